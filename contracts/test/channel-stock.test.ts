// Client and facilitator of the x402 library use our payment channels as if they were the deployed ones.
import { localAccount, namedAccounts } from "@sextant/local-chain/accounts";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import type { PaymentPayload } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { BatchSettlementEvmScheme as ClientScheme } from "@x402/evm/batch-settlement/client";
import { BatchSettlementEvmScheme as FacilitatorScheme } from "@x402/evm/batch-settlement/facilitator";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, describe, expect, it } from "vitest";
import { CHANNEL_CONTRACTS, deploy, LOCAL_GENESIS_CODE } from "../deploy/deploy.ts";
import { batchSettlementAbi } from "../generated/batch-settlement.ts";
import { usdCoinAbi } from "../generated/usd-coin.ts";
import { type ChannelConfig, channelIdOf, claimBatchDigest } from "./channel-world.ts";

const chain = await startLocalChain({ chainId: foundry.id, code: LOCAL_GENESIS_CODE, reorgDepthMax: 0 });
afterAll(() => chain.stop());
const { local } = await deploy({ request: chain.request, owner: chain.accounts.owner });
const { owner, payer, merchant, facilitator: relayer } = namedAccounts();
const receiverAuthorizer = privateKeyToAccount(localAccount(21).privateKey);
const transport = http(chain.rpcUrl);
const clientOf = (privateKey: `0x${string}`) =>
  createWalletClient({
    account: privateKeyToAccount(privateKey),
    chain: foundry,
    transport,
    pollingInterval: 20,
  }).extend(publicActions);
const node = clientOf(relayer.privateKey);
const usd = { address: local.UsdCoin, abi: usdCoinAbi } as const;
const PRICE = 1_000n;

const terms = {
  scheme: "batch-settlement",
  network: `eip155:${foundry.id}`,
  amount: PRICE.toString(),
  asset: local.UsdCoin,
  payTo: merchant.address,
  maxTimeoutSeconds: 300,
  extra: {
    name: "USD Coin",
    version: "2",
    receiverAuthorizer: receiverAuthorizer.address,
    withdrawDelay: 900,
    minDeposit: (10n * PRICE).toString(),
  },
} as const;

const facilitator = new FacilitatorScheme(
  toFacilitatorEvmSigner({
    address: relayer.address,
    readContract: (args) => node.readContract({ ...args, account: relayer.address } as never),
    verifyTypedData: (args) => node.verifyTypedData(args as never),
    writeContract: (args) => node.writeContract(args as never),
    sendTransaction: (args) => node.sendTransaction(args),
    waitForTransactionReceipt: (args) => node.waitForTransactionReceipt(args),
    getCode: (args) => node.getCode(args),
  }),
);
const settle = (payload: object) =>
  facilitator.settle({ x402Version: 2, accepted: terms, payload } as unknown as PaymentPayload, terms);

type DepositPayload = {
  readonly type: string;
  readonly channelConfig: ChannelConfig;
  readonly voucher: { readonly maxClaimableAmount: string; readonly signature: `0x${string}` };
  readonly deposit: { readonly amount: string };
};

describe("payment channels and the x402 library", () => {
  it("the library deposits, claims and pays out through our contracts", async () => {
    await clientOf(owner.privateKey).writeContract({
      ...usd,
      functionName: "mint",
      args: [payer.address, 10n ** 9n],
    });
    const account = privateKeyToAccount(payer.privateKey);
    const client = new ClientScheme({ ...account, readContract: (args) => node.readContract(args as never) });
    const { payload } = await client.createPaymentPayload(2, terms);
    const { type, channelConfig, voucher, deposit } = payload as unknown as DepositPayload;
    expect([type, voucher.maxClaimableAmount, deposit.amount]).toEqual(["deposit", "1000", "10000"]);

    const envelope = { x402Version: 2, accepted: terms, payload } as unknown as PaymentPayload;
    expect(await facilitator.verify(envelope, terms)).toMatchObject({ isValid: true });
    expect(await settle(payload)).toMatchObject({ success: true, amount: "10000" });

    const claims = [
      {
        voucher: { channel: channelConfig, maxClaimableAmount: voucher.maxClaimableAmount },
        signature: voucher.signature,
        totalClaimed: voucher.maxClaimableAmount,
      },
    ];
    const row = { channel: channelConfig, maxClaimableAmount: PRICE };
    const digest = claimBatchDigest([{ voucher: row, signature: voucher.signature, totalClaimed: PRICE }]);
    const claimAuthorizerSignature = await receiverAuthorizer.sign({ hash: digest });
    expect(await settle({ type: "claim", claims, claimAuthorizerSignature })).toMatchObject({
      success: true,
    });
    expect(await settle({ type: "settle", receiver: merchant.address, token: usd.address })).toMatchObject({
      success: true,
    });
    expect(await node.readContract({ ...usd, functionName: "balanceOf", args: [merchant.address] })).toBe(
      PRICE,
    );
    const state = await node.readContract({
      address: CHANNEL_CONTRACTS.settlement,
      abi: batchSettlementAbi,
      functionName: "channels",
      args: [channelIdOf(channelConfig)],
    });
    expect(state).toEqual([10n * PRICE, PRICE]);
  });
});
