// A fault as an answer, for those that must carry a header: when to come back.
import type { FaultCode } from "../../lib/fault.ts";
import { FAULTS } from "../../lib/fault.ts";
import type { EndpointAnswer } from "../../schema/endpoint.ts";

export function refusal(code: FaultCode, sentence: string, retryAfterSeconds?: number): EndpointAnswer {
  return {
    status: FAULTS[code].status,
    headers: {
      "x-error-code": code,
      "cache-control": "no-store",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: { error: sentence },
  };
}
