// Endpoints that events are delivered to, each with its place in them.
import type { Migration } from "../migrate.ts";

export const webhooks: Migration = {
  version: 11,
  name: "where events are delivered to",
  sql: `
      create table webhooks (
        id text collate "C" primary key,
        -- Null for an endpoint of the operator's configuration, which has a name there.
        owner text collate "C",
        name text collate "C" unique,
        url text not null,
        host text collate "C" not null,
        allow_private boolean not null default false,
        -- Names of events, or null for all, and what they must be about.
        types jsonb,
        subjects jsonb not null,
        finality text collate "C" not null,
        status text collate "C" not null default 'active' check (status in ('active', 'paused', 'disabled')),
        disabled_reason text collate "C",

        -- Where to read on: a cursor, and before the first read a block number or genesis.
        position text collate "C" not null,
        -- The furthest message that the receiver may have and was not undone, and whether it is past the position: it was
        -- sent without a response, or a replay went back.
        reached jsonb,
        is_reached_ahead boolean not null default false,
        -- An undo that is decided and not yet delivered, with the time of the decision.
        undo jsonb,
        -- Grows with every undo and replay; part of the ids of messages.
        epoch integer not null default 0,
        -- The head of the index when nothing more was there to deliver.
        caught_up_at text collate "C",

        -- Keys are derived from the server's key and this number. Those of the number before are valid for a time.
        generation integer not null default 1,
        previous_until timestamptz not null default '-infinity',

        failures integer not null default 0,
        retry_at timestamptz not null default '-infinity',
        pending_since timestamptz,
        last_error text,
        last_success_at timestamptz,
        tested_at timestamptz not null default '-infinity',
        delivered bigint not null default 0,

        -- Which process delivers, and until when it may.
        lease text collate "C",
        leased_until timestamptz not null default '-infinity',
        created_at timestamptz not null default now()
      );
      create index webhooks_by_owner on webhooks (owner);
      create index webhooks_by_host on webhooks (host);
      create index webhooks_due on webhooks (retry_at, id) where status = 'active';
    `,
};
