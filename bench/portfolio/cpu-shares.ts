// Shares of the processor time of a process by kind of work, from its CPU profile.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type CallFrame = { readonly functionName: string; readonly url: string };
type ProfileNode = {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
};

/** As V8 writes it; times in microseconds. */
export type CpuProfile = {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

/** The first rule that a frame fits counts, from the innermost frame outwards. */
const KINDS: readonly (readonly [kind: string, rule: RegExp])[] = [
  ["garbage collection", /^\(garbage collector\)/],
  ["loading modules", /esm\/|cjs\/|compileSource|\/tsx\/|node:internal\/modules/],
  ["JSON", /^(?:parse|stringify) $|lib\/json|^JSON/],
  ["ABI codec", /lib\/abi\/|chain\/aggregate3/],
  ["hex to numbers", /hex-values|lib\/hex|BigInt/],
  ["decimal arithmetic", /lib\/decimal/],
  ["declaring and joining reads", /contract-reads\//],
  ["validation of the response", /zod|json-shape|schema\//],
  ["writing the response", /http\/serve|http\/response|serialize/],
  ["logging", /pino|lib\/log/],
  ["payment", /payments\//],
  ["valuation", /portfolio\/valuation/],
  ["position readers", /portfolio\/positions/],
  ["prices", /portfolio\/prices/],
  ["balances, tokens and activity", /portfolio\/(?:providers|tokens|recent-logs|account|names)/],
  ["node client", /chain\/rpc|chain\/contract-calls|lib\/http-client/],
  ["HTTP of the service", /src\/http\/|node_modules\/(?:hono|@hono)/],
  ["sockets and streams", /_http|node:net|node:internal\/(?:streams|stream_base)|undici|node:zlib/],
  ["abort signals and timers", /abort_controller|event_target|timers/],
];

type CpuShare = { readonly kind: string; readonly ms: number };

/** The profile that a child wrote when it ended. */
export function readCpuProfile(folder: string): CpuProfile {
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error(`${folder} has no CPU profile`);
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
}

/** Shares of the last `windowMs` of the profile, the largest first; idle time is left out. */
export function shareCpuTime(profile: CpuProfile, windowMs: number): readonly CpuShare[] {
  const { nodes, samples, timeDeltas } = profile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const kindOf = new Map<number, string | null>();
  const classify = (id: number): string | null => {
    const known = kindOf.get(id);
    if (known !== undefined) return known;
    const { functionName = "", url = "" } = byId.get(id)?.callFrame ?? {};
    const parent = parentOf.get(id);
    const own = KINDS.find(([, rule]) => rule.test(`${functionName} ${url}`))?.[0];
    const kind = own ?? (parent === undefined ? null : classify(parent));
    kindOf.set(id, kind);
    return kind;
  };
  const shares = new Map<string, number>();
  let leftUs = windowMs * 1_000;
  for (let at = samples.length - 1; at >= 0 && leftUs > 0; at -= 1) {
    const [id = 0, us = 0] = [samples[at], timeDeltas[at]];
    leftUs -= us;
    if (byId.get(id)?.callFrame.functionName === "(idle)") continue;
    const kind = classify(id) ?? "other";
    shares.set(kind, (shares.get(kind) ?? 0) + us / 1_000);
  }
  return [...shares].map(([kind, ms]) => ({ kind, ms })).sort((one, other) => other.ms - one.ms);
}
