// The migrations since payment channels; append here.
import type { Migration } from "../migrate.ts";

export const newestMigrations: readonly Migration[] = [
  // A refund is owed from the moment at which it is signed: any client that has the signature can use it.
  {
    version: 25,
    name: "signed refunds of channels",
    sql: `
      -- The last refund that was signed, and the nonce for which. It may still be used until the contract's nonce is larger.
      alter table payment_channels add column signed_refund numeric(39,0), add column signed_refund_nonce numeric(78,0);
    `,
  },
  // A claim is sent once, also while our own node does not show what became of it.
  {
    version: 26,
    name: "sent claims of channels",
    sql: `
      -- What the last claim that was sent brings the contract's total to, and when it was sent; null if it cannot be mined.
      alter table payment_channels add column claim_sent numeric(39,0), add column claim_sent_at timestamptz;
    `,
  },
  // A claim shows its vouchers to everyone.
  {
    version: 27,
    name: "public vouchers of channels",
    sql: `
      -- The largest voucher that was in a transaction: anyone may have it.
      alter table payment_channels add column published numeric(39,0) not null default 0;
      create index payment_channels_refunds on payment_channels (network) where signed_refund_nonce >= refund_nonce;
    `,
  },
  // Two databases that sell for one payee with one key would count on the same deposit.
  {
    version: 28,
    name: "channels that others claim",
    sql: `
      -- When more was claimed than was charged here; null if all that was claimed was sold here.
      alter table payment_channels add column claimed_elsewhere_at timestamptz;
    `,
  },
  // A payer's name for a purchase holds for both ways of paying: two tables cannot share a unique index.
  {
    version: 29,
    name: "names of purchases",
    sql: `
      create table payment_names (
        network text collate "C" not null,
        token text collate "C" not null,
        payer text collate "C" not null,
        payment_id text collate "C" not null,
        scheme text collate "C" not null,
        -- The request that took the name last: who wants to take it over must have seen the same.
        holder text collate "C" not null,
        created_at timestamptz not null default now(),
        primary key (network, token, payer, payment_id)
      );
      create index payment_names_by_age on payment_names (network, created_at);
    `,
  },
  // Payers cost nothing to make, and every deposit and refund costs us gas.
  {
    version: 30,
    name: "limits and instructions of channels",
    sql: `
      -- Deposits and refunds that we have paid for, what the last one was for, and when.
      alter table payment_channels add column sponsored integer not null default 0, add column sponsored_for text
        collate "C", add column sponsored_at timestamptz;
      -- What the operator wants a running service to do with the channel, and what became of it.
      alter table payment_channels add column instruction text collate "C", add column instruction_amount numeric(39,0),
        add column instruction_result text, add column instructed_at timestamptz;
      create index payment_channels_instructions on payment_channels (network, instructed_at)
        where instruction is not null;
    `,
  },
  {
    version: 31,
    name: "channels by payer",
    concurrentIndex: "payment_channels_by_payer",
    sql: `
      create index concurrently payment_channels_by_payer on payment_channels (network, payer);
    `,
  },
  // Logs of wallets that are final: the next snapshot of a wallet searches only what is new.
  {
    version: 32,
    name: "logs of wallets",
    sql: `
      create table wallet_logs (
        wallet bytea not null,
        chain_id bigint not null,
        -- What the logs are: transfers from or to the wallet, or approvals.
        kind text collate "C" not null,
        from_block bigint not null,
        to_block bigint not null,
        -- Of the last block: on a chain with another one there nothing of this is true.
        block_hash bytea not null,
        -- As JSON, deflated.
        logs bytea not null,
        -- When the part that was read first was read.
        read_at timestamptz not null,
        used_at timestamptz not null default now(),
        primary key (wallet, chain_id, kind)
      );
    `,
  },
  {
    version: 33,
    name: "free calls by channel",
    sql: `
      -- Calls of a signer that cost nothing, in the hour that began then; the row without a signer has those of all.
      create table channel_free_calls (
        network text collate "C" not null,
        signer text collate "C" not null,
        since timestamptz not null,
        calls integer not null,
        primary key (network, signer)
      );
    `,
  },
  // An account may sign deposits into channels of any number of keys.
  {
    version: 34,
    name: "deposits of accounts",
    sql: `
      -- Deposits of a payer that we have paid for, in the hour that began then.
      create table channel_deposits (
        network text collate "C" not null,
        payer text collate "C" not null,
        since timestamptz not null,
        deposits integer not null,
        primary key (network, payer)
      );
    `,
  },
  // A cheap read has a response as large as others: stored for a day they would fill the disk.
  {
    version: 35,
    name: "short storage of responses",
    sql: `
      -- Until when the response is stored; null if as long as the row, and once it is dropped.
      alter table channel_purchases add column answer_until timestamptz;
    `,
  },
  {
    version: 36,
    name: "purchases by end of storage",
    concurrentIndex: "channel_purchases_by_end",
    sql: `
      create index concurrently channel_purchases_by_end on channel_purchases (network, answer_until)
        where answer_until is not null;
    `,
  },
  // Payees of other processes limit their payers by what those buy, which a facilitator does not see.
  {
    version: 37,
    name: "deposits by a facilitator",
    sql: `
      -- Deposits of an account that a facilitator has sent, in the hour that began then.
      create table facilitator_deposits (
        network text collate "C" not null,
        payer text collate "C" not null,
        since timestamptz not null,
        deposits integer not null,
        primary key (network, payer)
      );
    `,
  },
  // A payer that lost a response proves its account, and gets it without a payment.
  {
    version: 38,
    name: "sign-ins of payers",
    sql: `
      -- Authenticates nonces: all processes of the database issue them and recognize them. One row.
      create table sign_in_key (
        is_only boolean primary key default true check (is_only),
        key bytea not null
      );
      -- Nonces that were used within the hour. One that was only issued has no row.
      create table sign_ins (
        nonce text collate "C" primary key,
        payer text collate "C" not null,
        used_at timestamptz not null default now()
      );
      create index sign_ins_by_payer on sign_ins (payer, used_at);
    `,
  },
  {
    version: 39,
    name: "payments by request",
    concurrentIndex: "payments_by_request",
    sql: `
      create index concurrently payments_by_request on payments (payer, fingerprint)
        where answer_body is not null or state <> 'settled';
    `,
  },
  {
    version: 40,
    name: "purchases by request",
    concurrentIndex: "channel_purchases_by_request",
    sql: `
      create index concurrently channel_purchases_by_request
        on channel_purchases (payer, fingerprint, created_at) where answer_body <> '';
    `,
  },
  // One claim that reverts must keep no other back, whatever process sends them next.
  {
    version: 41,
    name: "reverted claims of channels",
    sql: `
      -- The size of the transaction in which the channel is claimed next, after one with it has reverted; null if any will do.
      alter table payment_channels add column claim_group integer;
      -- When a transaction of claims was found reverted.
      alter table channel_transactions add column reverted_at timestamptz;
    `,
  },
];
