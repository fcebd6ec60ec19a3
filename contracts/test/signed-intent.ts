// Intents for tests, and their owners' signatures.
import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { sign } from "viem/accounts";
import { type Intent, type IntentDomain, intentDigest } from "../hashes/intent-hash.ts";

export type IntentOptions = Partial<Intent["constraints"]> &
  Partial<Intent["execution"]> &
  Partial<Pick<Intent, "intentType" | "inputToken" | "outputToken" | "nonce">>;

/** An intent that requires nothing beyond its amounts by default. */
export function makeIntent(owner: Address, deadline: bigint, options: IntentOptions = {}): Intent {
  return {
    owner,
    intentType: options.intentType ?? 0,
    constraints: {
      amountInMax: options.amountInMax ?? 1_000n,
      amountOutMin: options.amountOutMin ?? 900n,
      deadline: options.deadline ?? deadline,
      slippageBps: options.slippageBps ?? 50,
    },
    execution: {
      target: options.target ?? zeroAddress,
      dataHash: options.dataHash ?? zeroHash,
      requiredAttestationSubject: options.requiredAttestationSubject ?? zeroHash,
      requiredAttestationSchema: options.requiredAttestationSchema ?? zeroHash,
      metadataURIHash: options.metadataURIHash ?? zeroHash,
    },
    inputToken: options.inputToken ?? `0x${"77".repeat(20)}`,
    outputToken: options.outputToken ?? `0x${"88".repeat(20)}`,
    nonce: options.nonce ?? 0n,
  };
}

/** The arguments of submitIntent: the intent, then v, r and s. */
export type TestSignedIntent = readonly [intent: Intent, v: number, r: Hex, s: Hex];

export async function signTestIntent(
  privateKey: Hex,
  intent: Intent,
  domain: IntentDomain,
): Promise<TestSignedIntent> {
  const { v, r, s } = await sign({ hash: intentDigest(intent, domain), privateKey });
  if (v === undefined) throw new Error("The signature has no recovery id");
  return [intent, Number(v), r, s];
}
