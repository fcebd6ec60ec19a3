// Contracts that wallets let act on their positions in lending protocols: gateways, bundlers, and swaps of debt.
import type { Spender } from "./spender.ts";

export const POSITION_ADAPTERS: readonly Spender[] = [
  {
    name: "Aave v3 WETH Gateway",
    protocol: "Aave",
    kind: "position-adapter",
    takesPositions: true,
    source: "bgd-labs/aave-address-book: src/ts",
    deployments: [
      [1, "0xd01607c3C5eCABa394D8be377a08590149325722"],
      [1, "0x3167C452fA3fa1e5C16bB83Bc0fde4519C464299"],
      [1, "0xf956B38F035dC9067fb827A512D3CF35202AB0Bc"],
      [10, "0x5f2508cAE9923b02316254026CD43d7902866725"],
      [137, "0xBC302053db3aA514A3c86B9221082f162B91ad63"],
      [8453, "0xa0d9C1E9E48Ca30c8d8C3B5D69FF5dc1f6DFfC24"],
      [42161, "0x5283BEcEd7ADF6D003225C13896E536f2D4264FF"],
    ],
  },
  {
    name: "Aave v2 WETH Gateway",
    protocol: "Aave",
    kind: "position-adapter",
    takesPositions: true,
    source: "bgd-labs/aave-address-book: src/ts",
    deployments: [
      [1, "0xa0d9C1E9E48Ca30c8d8C3B5D69FF5dc1f6DFfC24"],
      [137, "0xf1e6d4347105138B51E2bacA9A22fA228309ebB1"],
    ],
  },
  {
    name: "Aave v3 debt swap",
    protocol: "Aave",
    kind: "position-adapter",
    takesPositions: true,
    source: "bgd-labs/aave-address-book: src/ts",
    deployments: [
      [1, "0xd7852E139a7097E119623de0751AE53a61efb442"],
      [1, "0xd1B2dec98A95B773C4909B5CD8FB455F467A527f"],
      [1, "0x40ede12b44d98Fc4E53A2fB027D1BD1846e1690C"],
      [10, "0xE28E2c8d240dd5eBd0adcab86fbD79df7a052034"],
      [137, "0xE28E2c8d240dd5eBd0adcab86fbD79df7a052034"],
      [8453, "0xb12e82DF057BF16ecFa89D7D089dc7E5C1Dc057B"],
      [42161, "0x63dfa7c09Dc2Ff4030d6B8Dc2ce6262BF898C8A4"],
    ],
  },
  {
    name: "Aave v2 debt swap",
    protocol: "Aave",
    kind: "position-adapter",
    takesPositions: true,
    source: "bgd-labs/aave-address-book: src/ts",
    deployments: [
      [1, "0xAf5c88245CD02Ff3DF332EF1E1FfD5bc5D1d87cd"],
      [137, "0x63dfa7c09Dc2Ff4030d6B8Dc2ce6262BF898C8A4"],
    ],
  },
  {
    name: "Compound v3 Bulker",
    protocol: "Compound",
    kind: "position-adapter",
    takesPositions: true,
    source: "compound-finance/comet: deployments",
    deployments: [
      [1, "0xa397a8C2086C554B531c02E29f3291c9704B00c7"],
      [1, "0x2c776041CCFe903071AF44aa147368a9c8EEA518"],
      [10, "0xcb3643CC8294B23171272845473dEc49739d4Ba3"],
      [137, "0x59e242D352ae13166B4987aE5c990C232f7f7CD6"],
      [8453, "0x78D0677032A35c63D142a48A2037048871212a8C"],
      [42161, "0xbdE8F31D2DdDA895264e27DD990faB3DC87b372d"],
    ],
  },
  {
    name: "Morpho general adapter",
    protocol: "Morpho",
    kind: "position-adapter",
    takesPositions: true,
    source: "morpho-org/sdks: packages/morpho-ts/src/addresses.ts",
    deployments: [
      [1, "0x4A6c312ec70E8747a587EE860a0353cd42Be0aE0"],
      [10, "0x79481C87f24A3C4332442A2E9faaf675e5F141f0"],
      [137, "0xB261B51938A9767406ef83bbFbaAFE16691b7047"],
      [8453, "0xb98c948CFA24072e58935BC004a8A7b376AE746A"],
      [42161, "0x9954aFB60BB5A222714c478ac86990F221788B88"],
    ],
  },
];
