// Signatures: the account's own, in the one form it has; contracts decide for themselves, and a node must have answered.
import fc from "fast-check";
import { type Hex, hexToBigInt, keccak256, numberToHex, slice } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { type AccountReader, recoverSigner, requireSignature } from "./verify-signature.ts";

const KEY = keccak256("0x01");
const account = privateKeyToAccount(KEY).address.toLowerCase() as Hex;
const digest = keccak256("0x02");
const said = "to be signed is this.";
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const MAGIC: Hex = `0x1626ba7e${"00".repeat(28)}`;

const noCode: AccountReader = {
  readCode: async () => "0x",
  call: async () => {
    throw new Error("an account without code is not called");
  },
};

const contract = (answer: Hex | null): AccountReader => ({
  readCode: async () => "0x60",
  call: async () => answer,
});

const signed = (hash: Hex = digest): Promise<Hex> => sign({ hash, privateKey: KEY, to: "hex" });

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );

describe("an account without code", () => {
  it("is known by its signature", async () => {
    const signature = await signed();
    expect(await recoverSigner(digest, signature)).toBe(account);
    await requireSignature(noCode, account, { digest, signature, said });
  });

  it("is not another account, nor has it signed another digest", async () => {
    const signature = await signed();
    const other: Hex = `0x${"11".repeat(20)}`;
    await expect(requireSignature(noCode, other, { digest, signature, said })).rejects.toMatchObject({
      code: "WRITE_FORBIDDEN",
      message: `The signature is not by ${other}, but by ${account}; ${said}`,
    });
    const wrong = requireSignature(noCode, account, { digest: keccak256("0x03"), signature, said });
    expect(await code(wrong)).toBe("WRITE_FORBIDDEN");
  });

  it("has one form of each signature: the twin in the upper half, short and bare ones are refused", async () => {
    const signature = await signed();
    const v = slice(signature, 64);
    const twin =
      `${slice(signature, 0, 32)}${numberToHex(ORDER - hexToBigInt(slice(signature, 32, 64)), { size: 32 }).slice(2)}${v === "0x1b" ? "1c" : "1b"}` as Hex;
    const forms: Hex[] = [
      twin,
      slice(signature, 0, 64),
      `${slice(signature, 0, 64)}${v === "0x1b" ? "00" : "01"}`,
      `${signature}00`,
      "0x",
      `0x${"00".repeat(64)}1b`,
      `0x${"ff".repeat(32)}${"00".repeat(31)}011b`,
    ];
    for (const form of forms) expect(await code(recoverSigner(digest, form))).toBe("WRITE_UNAUTHENTICATED");
  });

  it("never fails with anything but a refusal, whatever is sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 60, maxLength: 70 }), async (bytes) => {
        const signature: Hex = `0x${Buffer.from(bytes).toString("hex")}`;
        const outcome = await code(requireSignature(noCode, account, { digest, signature, said }));
        expect(["WRITE_UNAUTHENTICATED", "WRITE_FORBIDDEN"]).toContain(outcome);
      }),
    );
  });
});

describe("an account with code", () => {
  it.each<[string, Hex | null, string]>([
    ["accepts", MAGIC, "accepted"],
    ["accepts with more behind it", `${MAGIC}00`, "accepted"],
    ["refuses", `0xffffffff${"00".repeat(28)}`, "WRITE_UNAUTHENTICATED"],
    ["reverts", null, "WRITE_UNAUTHENTICATED"],
    ["answers nothing, as one without the function does", "0x", "WRITE_UNAUTHENTICATED"],
    ["answers four bytes only", "0x1626ba7e", "WRITE_UNAUTHENTICATED"],
    ["answers true", `0x${"00".repeat(31)}01`, "WRITE_UNAUTHENTICATED"],
    ["answers with dirt behind the selector", `0x1626ba7e${"00".repeat(27)}01`, "WRITE_UNAUTHENTICATED"],
  ])("%s", async (_name, answer, outcome) => {
    // A signature its key would be known by: there is no falling back to it.
    const signature = await signed();
    expect(await code(requireSignature(contract(answer), account, { digest, signature, said }))).toBe(
      outcome,
    );
  });

  it("is asked for nothing when the node does not answer: that decides nothing", async () => {
    const away = async () => {
      throw new Fault("NODE_UNAVAILABLE", "No node answers.");
    };
    const signature = await signed();
    const silent = [
      { readCode: away, call: away },
      { readCode: async () => "0x60" as const, call: away },
    ];
    for (const reads of silent) {
      expect(await code(requireSignature(reads, account, { digest, signature, said }))).toBe(
        "NODE_UNAVAILABLE",
      );
    }
  });
});
