// By chain id: the contracts that know their protocol's vaults, and vaults that are known by address.
//
// Sources: Morpho's factories from morpho-org/sdks (2026-07-01), that of MetaMorpho 1.0 from docs.morpho.org; Euler from
// euler-xyz/euler-interfaces (2026-06-16); Fluid from Instadapp/fluid-contracts-public (2026-03-04), its two types of
// vaults checked against the published addresses; Yearn's registry from docs.yearn.fi, at one address on all chains;
// Aave's factories from @aave-dao/aave-address-book 4.68.1; Sky's and Spark's savings from
// sparkdotfi/spark-address-registry (2026-08-19), stUSDS as other public registries of that time have it; sDAI and sUSDe
// from the reserves of @aave-dao/aave-address-book 4.68.1; the savings vaults of Curve, Frax, Inverse, Origin and Angle as
// the repositories in token-lists/README.md have them.

import type { Hex } from "../../../lib/hex.ts";
import type { VaultProof } from "./proofs.ts";
import { ARBITRUM_MORPHO_VAULTS } from "./vaults/arbitrum.ts";
import { BASE_MORPHO_VAULTS } from "./vaults/base.ts";
import { ETHEREUM_MORPHO_VAULTS } from "./vaults/ethereum.ts";
import { OPTIMISM_MORPHO_VAULTS } from "./vaults/optimism.ts";
import { POLYGON_MORPHO_VAULTS } from "./vaults/polygon.ts";

export type VaultRegistry = {
  readonly proofs: readonly VaultProof[];
  /** Believed without a proof; never because a token list has them. */
  readonly vaults: ReadonlySet<Hex>;
  /** Knows who borrows from Euler's vaults; missing where Euler is not. */
  readonly eulerConnector?: Hex;
};

const FLUID_LENDING_FACTORY: Hex = "0x54b91a0d94cb471f37f949c60f7fa7935b551d03";
const FLUID_PROOFS: readonly VaultProof[] = [
  { kind: "fluidLending", registry: FLUID_LENDING_FACTORY },
  { kind: "fluidLendingNative", registry: FLUID_LENDING_FACTORY },
];
const YEARN_PROOF: VaultProof = {
  kind: "yearnRegistry",
  registry: "0xd40ecf29e001c76dcc4cc0d9cd50520ce845b038",
};
/** At one address on Ethereum and Base. */
const META_MORPHO_1_0_PROOF: VaultProof = {
  kind: "metaMorphoFactory",
  registry: "0xa9c3d3a366466fa809d1ae982fb2c46e5fc41101",
};

const ETHEREUM: VaultRegistry = {
  eulerConnector: "0x0c9a3dd6b8f28529d72d7f9ce918d493519ee383",
  proofs: [
    META_MORPHO_1_0_PROOF,
    { kind: "metaMorphoFactory", registry: "0x1897a8997241c1cd4bd0698647e4eb7213535c24" },
    { kind: "morphoVaultV2Factory", registry: "0xa1d94f746defa1928926b84fb2596c06926c0405" },
    { kind: "eulerFactory", registry: "0x29a56a1b8214d9cf7c5561811750d5cbdb45cc8e" },
    { kind: "eulerGoverned", registry: "0xc0121817ff224a018840e4d15a864747d36e6eb2" },
    { kind: "eulerGoverned", registry: "0x492e9fe1289d43f8bb6275237bf16c9248c74d44" },
    { kind: "eulerEscrow", registry: "0x4e58bbea423c4b9a2fc7b8e58f5499f9927fadde" },
    ...FLUID_PROOFS,
    YEARN_PROOF,
    { kind: "yearnRegistry", registry: "0xff31a1b020c868f6ea3f61eb953344920eeca3af" },
    { kind: "aaveStataFactory", registry: "0xcb0b5ca20b6c5c02a9a3b2ce433650768ed2974f" },
    { kind: "aaveStataFactory", registry: "0x347c75d19718a05148687e13dca259ad016ab411" },
  ],
  vaults: new Set([
    ...ETHEREUM_MORPHO_VAULTS,
    // sUSDS, stUSDS, sUSDC, spETH, spPYUSD, spUSDC, spUSDT.
    "0xa3931d71877c0e7a3148cb7eb4463524fec27fbd",
    "0x99cd4ec3f88a45940936f469e4bb72a2a701eeb9",
    "0xbc65ad17c5c0a2a4d159fa5a503f4992c7b545fe",
    "0xfe6eb3b609a7c8352a241f7f3a21cea4e9209b8f",
    "0x80128dbb9f07b93dde62a6daeadb69ed14a7d354",
    "0x28b3a8fb53b741a8fd78c0fb9a6b2393d896a43d",
    "0xe2e7a17dff93280dec073c995595155283e3c372",
    // sDAI, sUSDe.
    "0x83f20f44975d03b1b09e64809b757c47f942beea",
    "0x9d39a5de30e57443bff2a8307a4256c8797a3497",
    // scrvUSD, sfrxETH, sFRAX, sfrxUSD, sDOLA, wOETH, stUSD, stEUR.
    "0x0655977feb2f289a4ab78af67bab0d17aab84367",
    "0xac3e018457b222d93114458476f3e3416abbe38f",
    "0xa663b02cf0a4b149d2ad41910cb81e23e1c41c32",
    "0xcf62f905562626cfcdd2261162a51fd02fc9c5b6",
    "0xb45ad160634c528cc3d2926d9807104fa3157305",
    "0xdcee70654261af21c44c093c300ed3bb97b78192",
    "0x0022228a2cc5e7ef0274a7baa600d44da5ab5776",
    "0x004626a008b1acdc4c74ab51644093b155e59a23",
  ]),
};

const BASE: VaultRegistry = {
  eulerConnector: "0x5301c7dd20bd945d2013b48ed0dee3a284ca8989",
  proofs: [
    META_MORPHO_1_0_PROOF,
    { kind: "metaMorphoFactory", registry: "0xff62a7c278c62ed665133147129245053bbf5918" },
    { kind: "morphoVaultV2Factory", registry: "0x4501125508079a99ebbebce205dec9593c2b5857" },
    { kind: "eulerFactory", registry: "0x7f321498a801a191a93c840750ed637149ddf8d0" },
    { kind: "eulerGoverned", registry: "0xafc8545c49df2c8216305922d9753bf60bf8c14a" },
    { kind: "eulerGoverned", registry: "0x08b817c17d84df89aa371084d910081a5cc04724" },
    { kind: "eulerEscrow", registry: "0x977590fa311755da2fa1421c1a944520b684f90f" },
    ...FLUID_PROOFS,
    YEARN_PROOF,
    { kind: "aaveStataFactory", registry: "0x78d33bf0014ab169725f2ea5a62b200f2977faee" },
  ],
  vaults: new Set([
    ...BASE_MORPHO_VAULTS,
    // sUSDC.
    "0x3128a0f7f0ea68e7b7c9b00afa7e41045828e858",
  ]),
};

const ARBITRUM: VaultRegistry = {
  eulerConnector: "0x6302ef0f34100cddfb5489fbcb6ee1aa95cd1066",
  proofs: [
    { kind: "metaMorphoFactory", registry: "0x878988f5f561081deea117717052164ea1ef0c82" },
    { kind: "morphoVaultV2Factory", registry: "0x6b46fa3cc9ebf8ab230abac664e37f2966bf7971" },
    { kind: "eulerFactory", registry: "0x78df1cf5bf06a7f27f2acc580b934238c1b80d50" },
    { kind: "eulerGoverned", registry: "0xc7693ceef74bc7c8af703c5519f24bb5e6642643" },
    { kind: "eulerGoverned", registry: "0xee3de4507cfac8756634dc5272b4a6bb7f00c49e" },
    { kind: "eulerEscrow", registry: "0xd775c4960c3a1b4a6a9962e37ecde5c6b5fd56fb" },
    ...FLUID_PROOFS,
    YEARN_PROOF,
    { kind: "aaveStataFactory", registry: "0xd85922fff51ba4130cec7c499db4ac3eb9981ead" },
  ],
  vaults: new Set([
    ...ARBITRUM_MORPHO_VAULTS,
    // sUSDC, spUSDT.
    "0x940098b108fb7d0a7e374f6eded7760787464609",
    "0x45d91340b3b7b96985a72b5c678f7d9e8d664b62",
  ]),
};

const POLYGON: VaultRegistry = {
  eulerConnector: "0x90811daca4bd23fc79a87fbdff7522bed2d24b4b",
  proofs: [
    { kind: "metaMorphoFactory", registry: "0xa9c87dab340631c34bb738625c70499e29dddc98" },
    { kind: "morphoVaultV2Factory", registry: "0xc11a53ee9b1ecc7a068d8e40f8f17926584f97cf" },
    { kind: "eulerFactory", registry: "0xb1771a13e2a13fcafa89b00335915e732b9466b7" },
    { kind: "eulerGoverned", registry: "0x2fd99e75a242103c22fc622763207080b3103baa" },
    { kind: "eulerEscrow", registry: "0x49c3e2375ccf9d0b94f83826a3105da194ea42c9" },
    ...FLUID_PROOFS,
    YEARN_PROOF,
    { kind: "aaveStataFactory", registry: "0x1504f1d7b6892600ae0d394f9042e696dd9f87fa" },
  ],
  vaults: new Set(POLYGON_MORPHO_VAULTS),
};

const OPTIMISM: VaultRegistry = {
  proofs: [
    { kind: "metaMorphoFactory", registry: "0x3bb6a6a0bc85b367efe0a5bac81c5e52c892839a" },
    { kind: "morphoVaultV2Factory", registry: "0x6128b680b277bf4df80dfe9d8c55a498660870ef" },
    YEARN_PROOF,
    { kind: "aaveStataFactory", registry: "0x170d6d6fcabf0ba3932a03d5f470c16c39c18e39" },
  ],
  vaults: new Set([
    ...OPTIMISM_MORPHO_VAULTS,
    // sUSDC.
    "0xcf9326e24ebffbef22ce1050007a43a3c0b6db55",
  ]),
};

export const VAULT_REGISTRIES: ReadonlyMap<number, VaultRegistry> = new Map([
  [1, ETHEREUM],
  [8453, BASE],
  [42161, ARBITRUM],
  [137, POLYGON],
  [10, OPTIMISM],
]);
