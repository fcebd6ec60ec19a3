// Signature verification: ECDSA without malleability, ERC-1271 for contracts, and no verdict without a node.
import fc from "fast-check";
import { type Hex, hexToBigInt, keccak256, numberToHex, slice } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { type AccountReader, recoverSigner, requireSignature } from "./verify-signature.ts";

const KEY = keccak256("0x01");
const account = privateKeyToAccount(KEY).address.toLowerCase() as Hex;
const digest = keccak256("0x02");
const expected = "the signature must cover this.";
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const MAGIC: Hex = `0x1626ba7e${"00".repeat(28)}`;

const noCode: AccountReader = {
  readCode: async () => "0x",
  call: async () => {
    throw new Error("an account without code is not called");
  },
};

const contract = (returned: Hex | null): AccountReader => ({
  readCode: async () => "0x60",
  call: async () => returned,
});

const signed = (hash: Hex = digest): Promise<Hex> => sign({ hash, privateKey: KEY, to: "hex" });

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );

describe("an account without code", () => {
  it("recovers an account without code from its signature", async () => {
    const signature = await signed();
    expect(await recoverSigner(digest, signature)).toBe(account);
    await requireSignature(noCode, account, { digest, signature, expected });
  });

  it("rejects another account and another digest", async () => {
    const signature = await signed();
    const other: Hex = `0x${"11".repeat(20)}`;
    await expect(requireSignature(noCode, other, { digest, signature, expected })).rejects.toMatchObject({
      code: "WRITE_FORBIDDEN",
      message: `The signature is by ${account}, not by ${other}; ${expected}`,
    });
    const wrong = requireSignature(noCode, account, { digest: keccak256("0x03"), signature, expected });
    expect(await code(wrong)).toBe("WRITE_FORBIDDEN");
  });

  it("rejects high s, compact, overlong and empty signatures", async () => {
    const signature = await signed();
    const v = slice(signature, 64);
    const highS =
      `${slice(signature, 0, 32)}${numberToHex(ORDER - hexToBigInt(slice(signature, 32, 64)), { size: 32 }).slice(2)}${v === "0x1b" ? "1c" : "1b"}` as Hex;
    const forms: Hex[] = [
      highS,
      slice(signature, 0, 64),
      `${slice(signature, 0, 64)}${v === "0x1b" ? "00" : "01"}`,
      `${signature}00`,
      "0x",
      `0x${"00".repeat(64)}1b`,
      `0x${"ff".repeat(32)}${"00".repeat(31)}011b`,
    ];
    for (const form of forms) expect(await code(recoverSigner(digest, form))).toBe("WRITE_UNAUTHENTICATED");
  });

  it("rejects random bytes with a write error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 60, maxLength: 70 }), async (bytes) => {
        const signature: Hex = `0x${Buffer.from(bytes).toString("hex")}`;
        const outcome = await code(requireSignature(noCode, account, { digest, signature, expected }));
        expect(["WRITE_UNAUTHENTICATED", "WRITE_FORBIDDEN"]).toContain(outcome);
      }),
    );
  });
});

describe("an account with code", () => {
  it.each<[string, Hex | null, string]>([
    ["accepts", MAGIC, "accepted"],
    ["accepts with trailing bytes", `${MAGIC}00`, "accepted"],
    ["rejects", `0xffffffff${"00".repeat(28)}`, "WRITE_UNAUTHENTICATED"],
    ["reverts", null, "WRITE_UNAUTHENTICATED"],
    ["returns nothing, as one without the function does", "0x", "WRITE_UNAUTHENTICATED"],
    ["returns four bytes only", "0x1626ba7e", "WRITE_UNAUTHENTICATED"],
    ["returns true", `0x${"00".repeat(31)}01`, "WRITE_UNAUTHENTICATED"],
    ["returns nonzero bytes after the selector", `0x1626ba7e${"00".repeat(27)}01`, "WRITE_UNAUTHENTICATED"],
  ])("decides by the code of an account that %s, not by its key", async (_name, returned, outcome) => {
    // Valid by ECDSA, which must not be a fallback.
    const signature = await signed();
    expect(await code(requireSignature(contract(returned), account, { digest, signature, expected }))).toBe(
      outcome,
    );
  });

  it("throws NODE_UNAVAILABLE when the node does not respond", async () => {
    const unavailable = async () => {
      throw new Fault("NODE_UNAVAILABLE", "No node responds.");
    };
    const signature = await signed();
    const readers = [
      { readCode: unavailable, call: unavailable },
      { readCode: async () => "0x60" as const, call: unavailable },
    ];
    for (const reads of readers) {
      expect(await code(requireSignature(reads, account, { digest, signature, expected }))).toBe(
        "NODE_UNAVAILABLE",
      );
    }
  });
});
