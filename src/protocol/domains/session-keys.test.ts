// Session keys: events of accounts that anyone may deploy, which must never stop the index.
import { describe, expect, it } from "vitest";
import {
  LogSequence,
  MEMORY_ACCOUNT,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
} from "../../../tests/support/index/memory-index.ts";
import { sessionExecutions, sessionKeys } from "./policies.ts";

const KEY = repeatAddressByte("4e");
const OTHER_ACCOUNT = repeatAddressByte("ad");

class Account extends LogSequence {
  key(expiresAt: number, active: boolean, emitter = MEMORY_ACCOUNT): this {
    return this.append(
      "PolicyAccount",
      "SessionKeyUpdated",
      { sessionKey: KEY, expiresAt, active },
      { emitter },
    );
  }
  execution(nonce: bigint, value: bigint): this {
    const args = { sessionKey: KEY, target: repeatAddressByte("70"), value, nonce };
    return this.append("PolicyAccount", "SessionKeyExecuted", args);
  }
}

describe("session keys", () => {
  it("a session key belongs to the emitter of the event", async () => {
    const rows = await new Account().key(100, true).key(200, true, OTHER_ACCOUNT).rows();
    expect(rows.of(sessionKeys).map((row) => [row.account, row.expires_at, row.active])).toEqual([
      [MEMORY_ACCOUNT, 100n, true],
      [OTHER_ACCOUNT, 200n, true],
    ]);
  });

  it("a session key may even come from a contract of the deployment", async () => {
    const rows = await new Account().key(100, true, MEMORY_DEPLOYMENT.contracts.AgentRegistry).rows();
    expect(rows.one(sessionKeys).account).toBe(MEMORY_DEPLOYMENT.contracts.AgentRegistry);
  });

  it("stores one row per account and session key, whatever is repeated", async () => {
    const rows = await new Account()
      .key(100, true)
      .key(100, true)
      .key(2 ** 48 - 1, false)
      .rows();
    expect(rows.one(sessionKeys)).toMatchObject({
      expires_at: 2n ** 48n - 1n,
      active: false,
      block_number: 3n,
    });
  });

  it("stores one execution per nonce, and a repeated nonce does not stop the index", async () => {
    const rows = await new Account()
      .execution(7n, 1n)
      .execution(2n ** 256n - 1n, 2n ** 256n - 1n)
      .execution(7n, 3n)
      .rows();
    expect(rows.of(sessionExecutions).map((row) => [row.nonce, row.value])).toEqual([
      [7n, 3n],
      [2n ** 256n - 1n, 2n ** 256n - 1n],
    ]);
  });
});
