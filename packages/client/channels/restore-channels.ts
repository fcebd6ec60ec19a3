// Finds the channels of a payer whose journal is lost, by the deposits that the chain shows.
import { decodeAbiParameters } from "viem/utils";
import { SextantError } from "../errors.ts";
import type { ChannelRecord, RestoredChannel } from "../journal/records.ts";
import { callNode, readBlock, readQuantity, type Source } from "../payments/charge-proof.ts";
import type { Channel, RestoreOptions } from "../payments/payer-channel.ts";
import type { PurchaseContext } from "../payments/standing.ts";
import { type Fields, fieldsOf } from "../payments/terms.ts";
import { readChannel } from "./channel-chain.ts";
import {
  CHANNEL_CONFIG_FIELDS,
  CHANNEL_CONTRACT,
  type ChannelConfig,
  channelIdOf,
  DEPOSIT_COLLECTOR,
} from "./channel-typed-data.ts";
import { listChannels } from "./channels.ts";

type Hex = `0x${string}`;
type Call = (method: string, params: readonly unknown[]) => Promise<unknown>;

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
const CHANNEL_CREATED = "0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa";
const DEPOSITED = "0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89";
const CONFIG = [{ name: "config", type: "tuple", components: CHANNEL_CONFIG_FIELDS }] as const;
const DEPOSIT_DATA = [{ type: "uint128" }, { type: "uint128" }] as const;
// Nodes serve ranges of logs up to a limit of their own; few have one below this.
const RANGE_MIN = 500n;
// Its signature's end is not on the chain. Ours are valid for minutes.
const VALID_SECONDS_MAX = 86_400;

type Found = RestoredChannel & { readonly id: Hex };

/**
 * Adds to the journal the payer's channels that hold something. Nothing is signed; the next purchase by one of them learns
 * from the service what was bought.
 */
export async function restoreChannels(
  context: PurchaseContext,
  { fromBlock = 0n, signal }: RestoreOptions = {},
): Promise<readonly Channel[]> {
  const { transport, guard, payer, journal, now } = context;
  if (payer === null) throw new SextantError("NOT_CONFIGURED", "Channels are found by their payer.");
  if (guard.node === null)
    throw new SextantError("NOT_CONFIGURED", "Name a node of the network in guard.node.");
  const source: Source = { node: guard.node, signal };
  const call: Call = (method, params) => callNode(transport, source, method, params);
  const { network, asset } = guard;
  const onChain = `eip155:${readQuantity(await call("eth_chainId", []))}`;
  if (onChain !== network)
    throw new SextantError("NOT_CONFIGURED", `guard.node is of ${onChain}, not of ${network}.`);
  const account = payer.address.toLowerCase() as Hex;
  const channels = new Map<Hex, Found>();
  for (const hash of await findDeposits(call, { account, asset, fromBlock })) {
    await addDeposits(call, hash, { account, asset, network }, channels);
  }
  const restored = new Set<string>();
  for (const { id, ...found } of channels.values()) {
    const state = await readChannel(transport, source, { id, network }, "latest");
    if (state.balance === state.totalClaimed) continue;
    const [balance, claimed] = [state.balance.toString(), state.totalClaimed.toString()];
    const sums = { balance, charged: claimed, signed: claimed };
    const isClosing = state.withdrawStarted > 0;
    const record: ChannelRecord = {
      ...{ type: "channel", id, at: now(), restored: found, ...sums },
      ...(isClosing ? { state: "closing" } : {}),
    };
    await journal.exclusive(async (book, append) => {
      if (book.channels.get(id) !== null) return;
      await append(record, { durable: true });
      restored.add(id);
    });
  }
  return (await listChannels(context, signal ? { signal } : {})).filter(({ id }) => restored.has(id));
}

type Sought = { readonly account: Hex; readonly asset: string; readonly fromBlock: bigint };

/** The transactions in which the payer's money went to the collector of deposits, in the order of the chain. */
async function findDeposits(call: Call, { account, asset, fromBlock }: Sought): Promise<ReadonlySet<string>> {
  const topics = [TRANSFER, toTopic(account), toTopic(DEPOSIT_COLLECTOR)];
  const last = readQuantity((await readBlock(call, "latest")).number);
  const hashes = new Set<string>();
  let size = last - fromBlock + 1n;
  for (let from = fromBlock; from <= last; ) {
    const end = from + size - 1n;
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(end < last ? end : last) };
    try {
      const logs = await call("eth_getLogs", [{ address: asset, topics, ...range }]);
      for (const log of asList(logs)) hashes.add(String(fieldsOf(log).transactionHash));
      from = end + 1n;
    } catch (error) {
      const isRejected = error instanceof SextantError && error.code === "RESPONSE_INVALID";
      if (!isRejected || size <= RANGE_MIN) throw error;
      size /= 2n;
    }
  }
  return hashes;
}

/** The deposits of a transaction, and the channels that it creates. A deposit's authorization is used before it counts. */
async function addDeposits(
  call: Call,
  hash: string,
  { account, asset, network }: { readonly account: Hex; readonly asset: string; readonly network: string },
  channels: Map<Hex, Found>,
): Promise<void> {
  const receipt = fieldsOf(await call("eth_getTransactionReceipt", [hash]));
  const logs = asList(receipt.logs).map(readLog);
  const block = fieldsOf(await call("eth_getBlockByNumber", [receipt.blockNumber, false]));
  const seconds = Number(readQuantity(block.timestamp));
  const used = logs.filter(({ address, topics: [event, authorizer] }) => {
    return address === asset && event === AUTHORIZATION_USED && authorizer === toTopic(account);
  });
  for (const { address, topics, data } of logs) {
    const [event, id] = topics as [string, Hex];
    if (address !== CHANNEL_CONTRACT) continue;
    if (event === CHANNEL_CREATED) {
      const config = readConfig(data);
      const { payer, payerAuthorizer, token } = config;
      const isOurs = payer === account && payerAuthorizer === account && token === asset;
      if (isOurs && channelIdOf(network, config) === id && !channels.has(id))
        channels.set(id, { id, network, config, deposits: [] });
    }
    if (event !== DEPOSITED) continue;
    const nonce = used.shift()?.topics[2];
    if (nonce === undefined) continue;
    const [amount] = decodeAbiParameters(DEPOSIT_DATA, data);
    const validBefore = seconds + VALID_SECONDS_MAX;
    channels
      .get(id)
      ?.deposits.push({ id: nonce, at: seconds * 1_000, amount: amount.toString(), validBefore });
  }
}

function readConfig(data: Hex): ChannelConfig {
  const [config] = decodeAbiParameters(CONFIG, data);
  const lower = (address: string) => address.toLowerCase() as Hex;
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config;
  return {
    ...{ payer: lower(payer), payerAuthorizer: lower(payerAuthorizer), receiver: lower(receiver) },
    ...{ receiverAuthorizer: lower(receiverAuthorizer), token: lower(token), withdrawDelay, salt },
  };
}

function readLog(log: unknown) {
  const { address, topics, data }: Fields = fieldsOf(log);
  return {
    address: String(address).toLowerCase(),
    topics: asList(topics).map(String),
    data: String(data) as Hex,
  };
}

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new SextantError("RESPONSE_INVALID", "guard.node sent no logs.");
}

const toTopic = (address: string) => `0x${address.slice(2).padStart(64, "0")}`;
const toQuantity = (value: bigint) => `0x${value.toString(16)}`;
