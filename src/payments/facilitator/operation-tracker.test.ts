// Each tracker knows its own operations only, although all of a process share one storage.
import { expect, it } from "vitest";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import { OperationTracker } from "./transfer-scheme.ts";

const OPERATION = { accepts: () => false, hooks: null };

it("fails an operation for a failure of its own tracker, and not for one of another", async () => {
  const [own, other] = [new OperationTracker(), new OperationTracker()];
  const failing = own.run(OPERATION, async () => {
    other.recordFailure(new Error("of another"));
    own.recordFailure(new Error("its own"));
    return "done";
  });
  await expect(failing).rejects.toThrow(FacilitatorUnavailableError);
  await expect(failing).rejects.toMatchObject({ cause: { message: "its own" } });
  const passing = own.run(OPERATION, async () => {
    await Promise.resolve();
    other.recordFailure(new Error("of another"));
    return "done";
  });
  expect(await passing).toBe("done");
});

it("reports what an operation itself has sent", async () => {
  const hooks = { beforeSend: async () => undefined, onRejected: async () => undefined };
  const [own, other] = [new OperationTracker(), new OperationTracker()];
  await own.run({ ...OPERATION, hooks }, async () => {
    expect([own.hasSent(), other.markSending(), other.hasSent()]).toEqual([false, null, false]);
    expect([own.markSending(), own.hasSent(), other.hasSent()]).toEqual([hooks, true, false]);
  });
  expect(own.hasSent()).toBe(false);
});
