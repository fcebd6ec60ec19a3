// Every node request of a snapshot: who asked, what for, bytes, and whether another one could have carried it.
import type { ContractRead, PinnedChain, PortfolioChain } from "../../src/portfolio/types.ts";
import { formatGrouped, type Measurement } from "../harness/measurement.ts";
import { numberRoundTrips, planExchanges, type RecordedExchange } from "./exchange-plan.ts";

/** A read of the chain: what its request must contain, and the code that wanted it. */
export type AskedRead = { readonly parts: readonly string[]; readonly asker: string };

/** Notes who asks for each read; `asked` grows. */
export function observeReads(chain: PortfolioChain, asked: AskedRead[]): PortfolioChain {
  return {
    ...chain,
    pin: async (...query) => observePinned(await chain.pin(...query), asked),
  };
}

/** Methods of the node by the read that leads to them. */
const METHODS = {
  nativeBalance: "eth_getBalance",
  baseFee: "eth_getBlockByHash",
  code: "eth_getCode",
  storage: "eth_getStorageAt",
  transfers: "eth_getLogs",
  logs: "eth_getLogs",
  timestamps: "eth_getBlockByNumber",
  senders: "eth_getTransactionByHash",
} as const satisfies Partial<Record<keyof PinnedChain, string>>;

function observePinned(at: PinnedChain, asked: AskedRead[]): PinnedChain {
  const note = (...parts: readonly string[]) => void asked.push({ parts, asker: findAsker() });
  const noteCalls = (calls: readonly ContractRead[]) => {
    for (const { to, data } of calls) note("eth_call", to.slice(2), data.slice(2));
  };
  const observed: Record<string, unknown> = { ...at };
  for (const [name, method] of Object.entries(METHODS)) {
    const own = at[name as keyof typeof METHODS] as (...args: readonly unknown[]) => unknown;
    observed[name] = (...args: readonly unknown[]) => {
      note(method);
      return own(...args);
    };
  }
  return {
    ...(observed as PinnedChain),
    read: (calls, signal) => {
      noteCalls(calls);
      return at.read(calls, signal);
    },
    readEarlier: async (seconds, calls, signal) => {
      noteCalls(calls);
      return (await at.readEarlier?.(seconds, calls, signal)) ?? null;
    },
    callWithOverride: (call, signal) => {
      note("eth_call", call.data.slice(2));
      return at.callWithOverride(call, signal);
    },
    callAsAccount: (call, signal) => {
      note("eth_call", call.data.slice(2));
      return at.callAsAccount(call, signal);
    },
  };
}

const FRAMES_MAX = 40;
/** Code that carries reads of others. */
const CARRIERS =
  /contract-reads|repeated-reads|chain-access|position-read\.ts|recent-logs|time-budgets|request-table/;

/** The function of a reader that is on the stack: reads are asked for in the same turn. */
function findAsker(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES_MAX;
  const lines = (new Error().stack ?? "").split("\n");
  Error.stackTraceLimit = limit;
  for (const line of lines) {
    const file = /src\/portfolio\/([^:)?]+)\.ts/.exec(line)?.[1];
    if (file === undefined || CARRIERS.test(line)) continue;
    const name = /at (?:async )?(?:Object\.)?([\w.<>]+) \(/.exec(line)?.[1];
    return name === undefined ? file : `${file} (${name})`;
  }
  return "the block";
}

export type TableRow = {
  readonly roundTrip: number;
  readonly methods: string;
  /** Calls as vendors bill them: each call of a batch counts. */
  readonly calls: number;
  readonly askers: readonly string[];
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Other requests of the same round trip that could have carried it. */
  readonly joinable: number;
};

type SentCall = { readonly method: string };

/** A search of logs may take the node seconds: it stays by itself, or the others would wait for it. */
const isLogSearch = ({ body }: Pick<RecordedExchange, "body">): boolean => body.includes("eth_getLogs");

export function tabulateRequests(
  exchanges: readonly RecordedExchange[],
  asked: readonly AskedRead[],
): readonly TableRow[] {
  const plan = planExchanges(exchanges);
  const roundTrips = numberRoundTrips(plan);
  return plan.map((each, index) => {
    const { body, responseBytes } = each;
    const others = plan.filter(
      (other, at) =>
        at !== index && other.url === each.url && roundTrips[at] === roundTrips[index] && !isLogSearch(other),
    );
    // The first exchange finds the block, which nothing but the whole snapshot asks for.
    const found = index === 0 ? [] : asked.filter(({ parts }) => parts.every((part) => body.includes(part)));
    return {
      roundTrip: roundTrips[index] ?? 0,
      ...describeCalls(body),
      askers: [...new Set(found.map(({ asker }) => asker))],
      requestBytes: body.length,
      responseBytes,
      joinable: isLogSearch(each) ? 0 : others.length,
    };
  });
}

function describeCalls(body: string): Pick<TableRow, "methods" | "calls"> {
  const sent = JSON.parse(body) as SentCall | readonly SentCall[];
  const calls = Array.isArray(sent) ? (sent as readonly SentCall[]) : [sent as SentCall];
  const counts = new Map<string, number>();
  for (const { method } of calls) counts.set(method, (counts.get(method) ?? 0) + 1);
  const methods = [...counts].map(([method, count]) => (count === 1 ? method : `${count} ${method}`));
  return { methods: methods.join(", "), calls: calls.length };
}

const ASKERS_SHOWN = 4;

export function reportRequests(rows: readonly TableRow[]): readonly Measurement[] {
  return rows.map(({ roundTrip, methods, askers, requestBytes, responseBytes, joinable }) => {
    const more = askers.length > ASKERS_SHOWN ? ` and ${askers.length - ASKERS_SHOWN} more` : "";
    const who = askers.length === 0 ? "the block" : askers.slice(0, ASKERS_SHOWN).join(", ") + more;
    const joined = joinable === 0 ? "alone" : `${joinable} others could carry it`;
    return {
      what: `  ${roundTrip}: ${methods}`,
      value: `${formatGrouped(requestBytes)} B`,
      note: `${formatGrouped(responseBytes)} B back | ${joined} | ${who}`,
    };
  });
}

/** The compute units that vendors bill for a call: some each the same, others about ten on average, or 26 for `eth_call`. */
const UNITS_OF_A_CALL = [1, 10, 26];
/** Requests that a public node takes in a second. */
const PUBLIC_REQUESTS_PER_SECOND = 25;

/** The cost of these requests to an operator whose nodes are a vendor's, and how far a public node goes. */
export function reportBill(rows: readonly TableRow[]): readonly Measurement[] {
  const calls = rows.reduce((sum, row) => sum + row.calls, 0);
  const units = UNITS_OF_A_CALL.map((each) => `${formatGrouped(calls * each)} at ${each}`).join(", ");
  const perSecond = (PUBLIC_REQUESTS_PER_SECOND / rows.length).toFixed(1);
  return [
    { what: "  calls that a vendor bills", value: String(calls), note: `compute units: ${units} a call` },
    {
      what: "  snapshots a second from a public node",
      value: perSecond,
      note: `with ${PUBLIC_REQUESTS_PER_SECOND} requests a second, all of wallets of which nothing is remembered`,
    },
  ];
}
