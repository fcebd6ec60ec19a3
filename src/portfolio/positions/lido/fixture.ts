// Wallets with wstETH and with withdrawals on Ethereum, stETH not listed, with results in the shape of Lido's contracts.
import type { Hex } from "../../../lib/hex.ts";

export const WST_ETH_ADDRESS: Hex = "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0";
export const ST_ETH_ADDRESS: Hex = "0xae7ab96520de3a18e5e111b5eaab095312d7fe84";

export const WST_ETH_BALANCE = 5_000000000000000000n;
export const ST_ETH_AMOUNT = 6_084331905517243881n;

export const WITHDRAWAL_QUEUE: Hex = "0x889edc2edab5f40e902b864ad4d7ade8e412f9b1";
const LAST_CHECKPOINT = 700n;

const checkpointCall = {
  to: WITHDRAWAL_QUEUE,
  function: "getLastCheckpointIndex() view returns (uint256)",
  args: [],
  result: LAST_CHECKPOINT,
};

function requestsCall(wallet: Hex, ids: readonly bigint[]) {
  return {
    to: WITHDRAWAL_QUEUE,
    function: "getWithdrawalRequests(address) view returns (uint256[])",
    args: [wallet],
    result: ids,
  };
}

/** Of a wallet without withdrawals. */
export function noWithdrawalCalls(wallet: Hex) {
  return [requestsCall(wallet, []), checkpointCall];
}

export const WAITING_AMOUNT = 3_000000000000000000n;
/** Less than the request, because of a slashing before it was final. */
export const CLAIMABLE_AMOUNT = 1_990000000000000000n;

/** One request that waits, one that can be claimed, and one that was, in no order. */
export function withdrawalCalls(wallet: Hex) {
  const ids = [11n, 22n, 33n];
  const hints = [650n, 699n, 0n];
  return [
    requestsCall(wallet, [33n, 11n, 22n]),
    checkpointCall,
    {
      to: WITHDRAWAL_QUEUE,
      function:
        "getWithdrawalStatus(uint256[]) view returns ((uint256 amountOfStETH, uint256 amountOfShares, address owner, uint256 timestamp, bool isFinalized, bool isClaimed)[])",
      args: [ids],
      result: [
        statusOf(wallet, 5_000000000000000000n, true, true),
        statusOf(wallet, 2_000000000000000000n, true, false),
        statusOf(wallet, WAITING_AMOUNT, false, false),
      ],
    },
    {
      to: WITHDRAWAL_QUEUE,
      function: "findCheckpointHints(uint256[], uint256, uint256) view returns (uint256[])",
      args: [ids, 1n, LAST_CHECKPOINT],
      result: hints,
    },
    {
      to: WITHDRAWAL_QUEUE,
      function: "getClaimableEther(uint256[], uint256[]) view returns (uint256[])",
      args: [ids, hints],
      result: [0n, CLAIMABLE_AMOUNT, 0n],
    },
  ];
}

function statusOf(owner: Hex, amountOfStETH: bigint, isFinalized: boolean, isClaimed: boolean) {
  const amountOfShares = (amountOfStETH * 8n) / 10n;
  return { amountOfStETH, amountOfShares, owner, timestamp: 1_717_000_000n, isFinalized, isClaimed };
}

export const wstEthCalls = [
  {
    to: WST_ETH_ADDRESS,
    function: "getStETHByWstETH(uint256) view returns (uint256)",
    args: [WST_ETH_BALANCE],
    result: ST_ETH_AMOUNT,
  },
  {
    to: ST_ETH_ADDRESS,
    function: "totalSupply() view returns (uint256)",
    args: [],
    result: 8_912_345_678901234567890123n,
  },
  { to: ST_ETH_ADDRESS, function: "symbol() view returns (string)", args: [], result: "stETH" },
  {
    to: ST_ETH_ADDRESS,
    function: "name() view returns (string)",
    args: [],
    result: "Liquid staked Ether 2.0",
  },
  { to: ST_ETH_ADDRESS, function: "decimals() view returns (uint8)", args: [], result: 18 },
];
