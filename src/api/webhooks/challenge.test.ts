// Receivers that fail to prove themselves are limited per client, owner and host; those that prove themselves are not.
import { describe, expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { Secret } from "../../lib/secret.ts";
import { createReceiverProof } from "./challenge.ts";

function harness() {
  let now = 1_000_000;
  const sent: string[] = [];
  const prove = createReceiverProof({
    clock: { ...systemClock, nowMs: () => now },
    async send({ url }, { body }) {
      sent.push(url.reveal());
      if (url.reveal().includes("stuck")) await new Promise(() => undefined);
      const { challenge } = (JSON.parse(body) as { data: { challenge: string } }).data;
      const isGood = url.reveal().includes("good");
      return { isDelivered: true, status: 200, text: isGood ? challenge : "ok" };
    },
  });
  const register = async (given: { client?: string; owner?: number; host?: string }) => {
    const { client = "192.0.2.1", owner = 1, host = "receiver.example" } = given;
    try {
      await prove({
        webhook: {
          ...{ id: "wh_1", url: new Secret(`https://${host}/`), allowPrivate: false },
          keys: { generation: 1, isPreviousValid: false },
        },
        ...{ host, client, owner: `0x${owner.toString(16).padStart(40, "0")}` },
      });
      return "proven";
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
  };
  return {
    sent,
    register,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);

async function inTurn<T>(count: number, run: (each: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let each = 0; each < count; each += 1) results.push(await run(each));
  return results;
}

describe("receivers that do not prove themselves", () => {
  it("an owner has four a minute, whatever the client, and another one a moment later", async () => {
    const { register, sent, wait } = harness();
    const tries = () => inTurn(6, (each) => register({ client: `192.0.2.${each}` }));
    expect(await tries()).toEqual([...times(4, "CONFLICT"), ...times(2, "RATE_LIMITED")]);
    expect(sent).toHaveLength(4);
    wait(15_000);
    expect(await tries()).toEqual(["CONFLICT", ...times(5, "RATE_LIMITED")]);
  });

  it("a client has ten a minute, whatever the owner", async () => {
    const { register } = harness();
    const tries = await inTurn(12, (owner) => register({ owner, host: `h${owner}.example` }));
    expect(tries).toEqual([...times(10, "CONFLICT"), ...times(2, "RATE_LIMITED")]);
  });

  it("a host has 120 a minute, whatever port, client and owner", async () => {
    const { register } = harness();
    const tries = await inTurn(121, (each) =>
      register({ client: `192.0.2.${each}`, owner: each, host: `receiver.example:${1_024 + each}` }),
    );
    expect(tries).toEqual([...times(120, "CONFLICT"), "RATE_LIMITED"]);
    expect(await register({ client: "192.0.2.250", owner: 250, host: "other.example" })).toBe("CONFLICT");
  });
});

it("receivers that get no request, because too many are asked already, count for no limit", async () => {
  const { register, sent } = harness();
  const stuck = Array.from({ length: 6 }, (_, owner) => register({ owner, host: "stuck.example" }));
  expect(await inTurn(10, (each) => register({ owner: 10 + each }))).toEqual(times(10, "OVERLOADED"));
  expect([stuck.length, sent.length]).toEqual([6, 2]);
});

it("receivers that prove themselves count for no limit", async () => {
  const { register } = harness();
  expect(await inTurn(200, () => register({ host: "good.example" }))).toEqual(times(200, "proven"));
  // A limit that is used up takes nothing from the others.
  await inTurn(200, () => register({}));
  expect(await inTurn(6, (owner) => register({ owner: owner + 2, host: "x.example" }))).toEqual(
    times(6, "CONFLICT"),
  );
});
