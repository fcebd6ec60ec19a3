// A fault as an answer, for those that must carry a header: when to come back.
import type { FaultCode } from "../../lib/fault.ts";
import { FAULTS } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";

export function toErrorResponse(
  code: FaultCode,
  sentence: string,
  retryAfterSeconds?: number,
): EndpointResponse {
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
