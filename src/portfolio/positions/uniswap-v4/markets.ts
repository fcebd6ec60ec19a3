// The Uniswap v4 deployments by chain id. Source: Uniswap/contracts, deployments/json, 2026-08-06, read on 2026-11-16.
import type { Hex } from "../../../lib/hex.ts";

export type UniswapV4Market = {
  /** The PositionManager, whose NFTs are the positions. */
  readonly manager: Hex;
  /** StateView: reads pools, which are entries of one contract. */
  readonly stateView: Hex;
  /** When the manager was deployed, in seconds since 1970: it has no older logs. */
  readonly deployedAt: number;
};

export const UNISWAP_V4_MARKETS: ReadonlyMap<number, readonly UniswapV4Market[]> = new Map([
  [
    1,
    [
      {
        manager: "0xbd216513d74c8cf14cf4747e6aaa6420ff64ee9e",
        stateView: "0x7ffe42c4a5deea5b0fec41c94c136cf115597227",
        deployedAt: 1_737_658_355,
      },
    ],
  ],
  [
    10,
    [
      {
        manager: "0x3c3ea4b57a46241e54610e5f022e5c45859a1017",
        stateView: "0xc18a3169788f4f75a170290584eca6395c75ecdb",
        deployedAt: 1_737_494_278,
      },
    ],
  ],
  [
    137,
    [
      {
        manager: "0x1ec2ebf4f37e7363fdfe3551602425af0b3ceef9",
        stateView: "0x5ea1bd7974c8a611cbab0bdcafcb1d9cc9b3ba5a",
        deployedAt: 1_737_492_197,
      },
    ],
  ],
  [
    8453,
    [
      {
        manager: "0x7c5f5a4bbd8fd63184577525326123b519429bdc",
        stateView: "0xa3c0c9b65bad0b08107aa264b0f3db444b867a71",
        deployedAt: 1_737_491_485,
      },
    ],
  ],
  [
    42161,
    [
      {
        manager: "0xd88f38f930b7952f2db2432cb002e7abbf3dd869",
        stateView: "0x76fd297e2d437cd7f76d50f01afe6160f86e9990",
        deployedAt: 1_737_487_458,
      },
    ],
  ],
]);
