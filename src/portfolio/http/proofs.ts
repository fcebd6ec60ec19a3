// `proof=1`: adds Merkle proofs to a whole response, for a price of its own if that is set.
import { Deadline } from "../../lib/deadline.ts";
import { Fault } from "../../lib/fault.ts";
import { enumParameter, type ParameterValues, queryParameter, withDefault } from "../../schema/parameter.ts";
import type { ProofOptions, ProvableResponse, ProvenResponse } from "../proofs/prove-response.ts";
import type { PaidQuery, RouteServices } from "./routes/paid-route.ts";

// Paid work has 25 seconds. What is left after the read is for the proofs, and then for the response itself.
const WORK_MS_MAX = 23_500;
const PROOFS_MS_MAX = 4_000;

/** The whole response is what claims are about: a part of it would leave them without their fields. */
const EXCLUDED = ["fields", "detail"] as const;

const proofQuery = queryParameter(
  "proof",
  withDefault(enumParameter(["0", "1"]), "0"),
  "`1` adds `proofs`: Merkle proofs of balances, allowances, and the account's code and nonce against the hash of each chain's block, which anyone can check without us. Only with the whole response (`detail=full`, no `fields`). What cannot be proven says why; it may cost more.",
  "1",
);

/**
 * The parameter `proof` for a query; `describe` says what of a response can be proven, `complete` adds to it what only the
 * proofs show.
 */
export function addProofs<Body extends object>(
  query: PaidQuery,
  describe: (body: Body) => ProvableResponse,
  complete: (body: Body, nonces: ProvenResponse["nonces"]) => Body = (body) => body,
): PaidQuery {
  return {
    parameters: [...query.parameters, proofQuery],
    parse: (values) => {
      const request = query.parse(values);
      if (values.proof !== "1") return request;
      requireWhole(values);
      return {
        ...request,
        query: { ...request.query, proof: "1" },
        hasProofs: true,
        read: async (services, signal) => {
          const startMs = services.clock.nowMs();
          // The form of the response is the full one, which `describe` takes.
          const body = (await request.read(services, signal)) as Body;
          const leftMs = WORK_MS_MAX - (services.clock.nowMs() - startMs);
          const budgetMs = Math.max(0, Math.min(PROOFS_MS_MAX, leftMs));
          const provable = describe(body);
          const options = { isPast: isPast(request.query), budgetMs };
          const { proofs, nonces } = await proveWithin(services, provable, options, signal);
          return { ...complete(body, nonces), proofs };
        },
      };
    },
  };
}

/** The response is sold whatever happens here: what waits too long, or fails, is late. */
async function proveWithin(
  { clock, load, prover, log }: RouteServices,
  provable: ProvableResponse,
  { isPast, budgetMs }: ProofOptions,
  signal: AbortSignal,
): Promise<ProvenResponse> {
  const untilMs = clock.nowMs() + budgetMs;
  const waiting = new Deadline(budgetMs, signal);
  const slugs = [...new Set(provable.chains.map(({ slug }) => slug))];
  try {
    return await load.run(slugs, waiting.signal, () => {
      waiting.end();
      return prover.prove(provable, { isPast, budgetMs: untilMs - clock.nowMs() }, signal);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(waiting.isLate || error instanceof Fault)) {
      log.error({ component: "portfolio", event: "proofs_failed", err: error }, "Proofs failed");
    }
    return prover.describeLate(provable);
  } finally {
    waiting.end();
  }
}

function requireWhole(values: ParameterValues): void {
  const given = EXCLUDED.find((name) => values[name] !== undefined && values[name] !== "full");
  if (given === undefined) return;
  throw new Fault("INPUT_INVALID", `proof=1 needs the whole response: leave out ${given}.`);
}

/** Blocks that the request names. */
function isPast(query: Readonly<Record<string, string>>): boolean {
  return query.block !== undefined || query.from !== undefined;
}
