// Sends a request that changes nothing again if that can help, and says how long to wait before.
import { SextantError } from "../errors.ts";
import { type HttpRequest, type HttpResponse, type Transport, toResponseError } from "./transport.ts";

const PAUSE_MS = 250;
// About two blocks: what settles in that time has settled.
const PAUSE_MS_MAX = 15_000;

type Repetition = {
  readonly attemptsMax: number;
  /** Statuses of a response; any other one is thrown as the error that it stands for. */
  readonly accepted: readonly number[];
};

/** One response that is accepted, within `attemptsMax` attempts. */
export async function sendRepeatedly(
  transport: Transport,
  request: HttpRequest,
  { attemptsMax, accepted }: Repetition,
): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptOnce(transport, request, accepted);
    if (!(outcome instanceof SextantError)) return outcome;
    const mayHelp = outcome.retry === "same-signature" && outcome.code !== "ABORTED";
    if (!mayHelp || attempt >= attemptsMax) throw outcome;
    if (!(await pauseBefore(attempt, outcome.retryAfterMs, request.signal))) throw outcome;
  }
}

async function attemptOnce(
  transport: Transport,
  request: HttpRequest,
  accepted: readonly number[],
): Promise<HttpResponse | SextantError> {
  try {
    const response = await transport.send(request);
    return accepted.includes(response.status) ? response : toResponseError(response);
  } catch (error) {
    if (error instanceof SextantError) return error;
    throw error;
  }
}

/**
 * Waits for what the service asks for, otherwise twice as long each time, and never longer than a person would. False
 * when the signal ended the wait.
 */
export function pauseBefore(
  attempt: number,
  retryAfterMs: number | null,
  signal?: AbortSignal | undefined,
  msMax = PAUSE_MS_MAX,
): Promise<boolean> {
  const ms = Math.min(retryAfterMs ?? PAUSE_MS * 2 ** (attempt - 1), msMax);
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const abort = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve(true);
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
