// The owner of an intent, whom a local run leaves to us: signs what it wants, and selects a bid.
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { type Intent, intentDomain, intentTypes } from "@sextant/contracts/hashes/intent-hash";
import { parseEventLogs, parseSignature, parseUnits, zeroAddress, zeroHash } from "viem";
import { blockOf, type openLocalRun } from "./local-run.ts";

const HOUR_SECONDS = 3_600n;

export function openIntentOwner(run: ReturnType<typeof openLocalRun>) {
  const { chainId, contract, token, tokenNamed, wallet } = run;
  const agent = wallet("agent");
  const book = { address: contract("IntentBook"), abi: intentBookAbi } as const;
  return {
    /** Offers dollars for a little less in wrapped ether. */
    async submit(): Promise<string> {
      const { timestamp } = await agent.getBlock();
      const none = { requiredAttestationSubject: zeroHash, requiredAttestationSchema: zeroHash };
      const intent: Intent = {
        ...{ owner: agent.account.address, intentType: 0, nonce: BigInt(Date.now()) },
        ...{ inputToken: token, outputToken: tokenNamed("WETH") },
        constraints: {
          ...{ amountInMax: parseUnits("0.7", 6), amountOutMin: parseUnits("0.0002", 18) },
          ...{ deadline: timestamp + HOUR_SECONDS, slippageBps: 50 },
        },
        execution: { ...none, target: zeroAddress, dataHash: zeroHash, metadataURIHash: zeroHash },
      };
      const domain = intentDomain(chainId, book.address);
      const terms = { domain, types: intentTypes, primaryType: "Intent", message: intent } as const;
      const { r, s, yParity } = parseSignature(await agent.signTypedData(terms));
      const args = [intent, 27 + yParity, r, s] as const;
      const hash = await agent.writeContract({ ...book, functionName: "submitIntent", args });
      const { logs } = await agent.waitForTransactionReceipt({ hash });
      const [event] = parseEventLogs({ abi: intentBookAbi, eventName: "IntentSubmitted", logs });
      if (event === undefined) throw new Error(`the transaction ${hash} submitted no intent`);
      return event.args.intentId.toString();
    },
    /** Returns the block from which on the bid is selected. */
    async select(intentId: string, bidId: string): Promise<bigint> {
      const args = [BigInt(intentId), BigInt(bidId)] as const;
      return blockOf(agent, await agent.writeContract({ ...book, functionName: "selectBid", args }));
    },
  };
}
