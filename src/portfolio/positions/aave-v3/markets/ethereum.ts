// Aave v3 Ethereum, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveEthereum: AaveMarket = {
  name: "Aave v3 Ethereum",
  pool: "0x87870bca3f3fd6335c3f4ce8392d69350b4fa4e2",
  oracle: "0x54586be62e3c3580375ae3723c145253060ca0c2",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", aToken: "0x4d5f47fa6a74757f35c14fd3a6ef8e3c9bc514e8", debtToken: "0xea51d7853eefb32b6ee06b1c12e6dcca88be0ffe" }, // WETH
    { underlying: "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0", aToken: "0x0b925ed163218f6662a35e0f0371ac234f9e9371", debtToken: "0xc96113eed8cab59cd8a66813bcb0ceb29f06d2e4" }, // wstETH
    { underlying: "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", aToken: "0x5ee5bf7ae06d1be5997a1a72006fe6c607ec6de8", debtToken: "0x40aabef1aa8f0eec637e0e7d92fbffb2f26a8b7b" }, // WBTC
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0x98c23e9d8f34fefb1b7bd6a91b7ff122f4e16f5c", debtToken: "0x72e95b8931767c79ba4eee721354d6e99a61d004" }, // USDC
    { underlying: "0x6b175474e89094c44da98b954eedeac495271d0f", aToken: "0x018008bfb33d285247a21d44e50697654f754e63", debtToken: "0xcf8d0c70c850859266f5c338b38f9d663181c314" }, // DAI
    { underlying: "0x514910771af9ca656af840dff83e8264ecf986ca", aToken: "0x5e8c8a7243651db1384c0ddfdbe39761e8e7e51a", debtToken: "0x4228f8895c7dda20227f6a5c6751b8ebf19a6ba8" }, // LINK
    { underlying: "0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9", aToken: "0xa700b4eb416be35b2911fd5dee80678ff64ff6c9", debtToken: "0xbae535520abd9f8c85e58929e0006a2c8b372f74" }, // AAVE
    { underlying: "0xbe9895146f7af43049ca1c1ae358b0541ea49704", aToken: "0x977b6fc5de62598b08c85ac8cf2b745874e8b78c", debtToken: "0x0c91bca95b5fe69164ce583a2ec9429a569798ed" }, // cbETH
    { underlying: "0xdac17f958d2ee523a2206206994597c13d831ec7", aToken: "0x23878914efe38d27c4d67ab83ed1b93a74d4086a", debtToken: "0x6df1c1e379bc5a00a7b4c6e67a203333772f45a8" }, // USDT
    { underlying: "0xae78736cd615f374d3085123a210448e74fc6393", aToken: "0xcc9ee9483f662091a1de4795249e24ac0ac2630f", debtToken: "0xae8593dd575fe29a9745056aa91c4b746eee62c8" }, // rETH
    { underlying: "0x5f98805a4e8be255a32880fdec7f6728c6568ba0", aToken: "0x3fe6a295459fae07df8a0cecc36f37160fe86aa9", debtToken: "0x33652e48e4b74d18520f11bfe58edd2ed2cec5a2" }, // LUSD
    { underlying: "0xd533a949740bb3306d119cc777fa900ba034cd52", aToken: "0x7b95ec873268a6bfc6427e7a28e396db9d0ebc65", debtToken: "0x1b7d3f4b3c032a5ae656e30eea4e8e1ba376068f" }, // CRV
    { underlying: "0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2", aToken: "0x8a458a9dc9048e005d22849f470891b840296619", debtToken: "0x6efc73e54e41b27d2134ff9f98f15550f30df9b1" }, // MKR
    { underlying: "0xc011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f", aToken: "0xc7b4c17861357b8abb91f25581e7263e08dcb59c", debtToken: "0x8d0de040e8aad872ec3c33a3776de9152d3c34ca" }, // SNX
    { underlying: "0xba100000625a3754423978a60c9317c58a424e3d", aToken: "0x2516e7b3f76294e03c42aa4c5b5b4dce9c436fb8", debtToken: "0x3d3efceb4ff0966d34d9545d3a2fa2dcdbf451f2" }, // BAL
    { underlying: "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984", aToken: "0xf6d2224916ddfbbab6e6bd0d1b7034f4ae0cab18", debtToken: "0xf64178ebd2e2719f2b1233bcb5ef6db4bcc4d09a" }, // UNI
    { underlying: "0x5a98fcbea516cf06857215779fd812ca3bef1b32", aToken: "0x9a44fd41566876a39655f74971a3a6ea0a17a454", debtToken: "0xc30808705c01289a3d306ca9cab081ba9114ec82" }, // LDO
    { underlying: "0xc18360217d8f7ab5e7c516566761ea12ce7f9d72", aToken: "0x545bd6c032efdde65a377a6719def2796c8e0f2e", debtToken: "0xd180d7fdd4092f07428efe801e17bc03576b3192" }, // ENS
    { underlying: "0x111111111117dc0aa78b770fa6a738034120c302", aToken: "0x71aef7b30728b9bb371578f36c5a1f1502a5723e", debtToken: "0xa38fca8c6bf9bda52e76eb78f08caa3be7c5a970" }, // ONE_INCH
    { underlying: "0x853d955acef822db058eb8505911ed77f175b99e", aToken: "0xd4e245848d6e1220dbe62e155d89fa327e43cb06", debtToken: "0x88b8358f5bc87c2d7e116cca5b65a9eeb2c5ea3f" }, // FRAX
    { underlying: "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f", aToken: "0x00907f9921424583e7ffbfedf84f92b7b2be4977", debtToken: "0x786dbff3f1292ae8f92ea68cf93c30b34b1ed04b" }, // GHO
    { underlying: "0xd33526068d116ce69f19a9ee46f0bd304f21a51f", aToken: "0xb76cf92076adbf1d9c39294fa8e7a67579fde357", debtToken: "0x8988eca19d502fd8b9ccd03fa3bd20a6f599bc2a" }, // RPL
    { underlying: "0x83f20f44975d03b1b09e64809b757c47f942beea", aToken: "0x4c612e3b15b96ff9a6faed838f8d07d479a8dd4c", debtToken: "0x8db9d35e117d8b93c6ca9b644b25bad5d9908141" }, // sDAI
    { underlying: "0xaf5191b0de278c7286d6c7cc6ab6bb8a73ba2cd6", aToken: "0x1ba9843bd4327c6c77011406de5fa8749f7e3479", debtToken: "0x655568bdd6168325ec7e58bf39b21a856f906dc2" }, // STG
    { underlying: "0xdefa4e8a7bcba345f687a2f1456f5edd9ce97202", aToken: "0x5b502e3796385e1e9755d7043b9c945c3accec9c", debtToken: "0x253127ffc04981cea8932f406710661c2f2c3fd2" }, // KNC
    { underlying: "0x3432b6a60d23ca0dfca7761b7ab56459d9c964d0", aToken: "0x82f9c5ad306bba1ad0de49bb5fa6f01bf61085ef", debtToken: "0x68e9f0ad4e6f8f5db70f6923d4d6d5b225b83b16" }, // FXS
    { underlying: "0xf939e0a03fb07f59a73314e73794be0e57ac1b4e", aToken: "0xb82fa9f31612989525992fcfbb09ab22eff5c85a", debtToken: "0x028f7886f3e937f8479efad64f31b3fe1119857a" }, // crvUSD
    { underlying: "0x6c3ea9036406852006290770bedfcaba0e23a0e8", aToken: "0x0c0d01abf3e6adfca0989ebba9d6e85dd58eab1e", debtToken: "0x57b67e4de077085fd0af2174e9c14871be664546" }, // PYUSD
    { underlying: "0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee", aToken: "0xbdfa7b7893081b35fb54027489e2bc7a38275129", debtToken: "0x77ad9bf13a52517ad698d65913e8d381300c8bf3" }, // weETH
    { underlying: "0xf1c9acdc66974dfb6decb12aa385b9cd01190e38", aToken: "0x927709711794f3de5ddbf1d176bee2d55ba13c21", debtToken: "0x8838eeff2af391863e1bb8b1df563f86743a8470" }, // osETH
    { underlying: "0x4c9edd5852cd905f086c759e8383e09bff1e68b3", aToken: "0x4f5923fc5fd4a93352581b38b7cd26943012decf", debtToken: "0x015396e1f286289ae23a762088e863b3ec465145" }, // USDe
    { underlying: "0xa35b1b31ce002fbf2058d22f30f95d405200a15b", aToken: "0x1c0e06a0b1a4c160c17545ff2a951bfca57c0002", debtToken: "0x08a8dc81aea67f84745623ac6c72cda3967aab8b" }, // ETHx
    { underlying: "0x9d39a5de30e57443bff2a8307a4256c8797a3497", aToken: "0x4579a27af00a62c0eb156349f31b345c08386419", debtToken: "0xeffde9bfa8ec77c14c364055a200746d6e12bed6" }, // sUSDe
    { underlying: "0x18084fba666a33d37592fa2633fd49a74dd93a88", aToken: "0x10ac93971cdb1f5c778144084242374473c350da", debtToken: "0xac50890a80a2731eb1ea2e9b4f29569ceb06d960" }, // tBTC
    { underlying: "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf", aToken: "0x5c647ce0ae10658ec44fa4e11a51c96e94efd1dd", debtToken: "0xeb284a70557efe3591b9e6d9d720040e02c54a4d" }, // cbBTC
    { underlying: "0xdc035d45d973e3ec169d2276ddab16f1e407384f", aToken: "0x32a6268f9ba3642dda7892add74f1d34469a4259", debtToken: "0x490e0e6255bf65b43e2e02f7acb783c5e04572ff" }, // USDS
    { underlying: "0xa1290d69c65a6fe4df752f95823fae25cb99e5a7", aToken: "0x2d62109243b87c4ba3ee7ba1d91b0dd0a074d7b1", debtToken: "0x6de3e52a1b7294a34e271a508082b1ff4a37e30e" }, // rsETH
    { underlying: "0x8236a87084f8b84306f72007f36f2618a5634494", aToken: "0x65906988adee75306021c417a1a3458040239602", debtToken: "0x68aeb290c7727d899b47c56d1c96aeac475cd0dd" }, // LBTC
    { underlying: "0x657e8c867d8b37dcc18fa4caead9c45eb088c642", aToken: "0x5fefd7069a7d91d01f269dade14526ccf3487810", debtToken: "0x47ed0509e64615c0d5c6d39af1b38d02bc9fe58f" }, // eBTC
    { underlying: "0x8292bb45bf1ee4d140127049757c2e0ff06317ed", aToken: "0xfa82580c16a31d0c1bc632a36f82e83efef3eec0", debtToken: "0xbdfe7ad7976d5d7e0965ea83a81ca1bcff7e84a9" }, // RLUSD
    { underlying: "0x50d2c7992b802eef16c04feadab310f31866a545", aToken: "0x4b0821e768ed9039a70ed1e80e15e76a5be5df5f", debtToken: "0x3c20fbfd32243dd9899301c84bce17413eee0a0c" }, // PT_eUSDE_29MAY2025
    { underlying: "0x3b3fb9c57858ef816833dc91565efcd85d96f634", aToken: "0xde6ef6cb4abd3a473ffc2942eef5d84536f8e864", debtToken: "0x8c6feaf5d58ba1a6541f9c4af685f62bfcbac3b1" }, // PT_sUSDE_31JUL2025
    { underlying: "0xc139190f447e929f090edeb554d95abb8b18ac1c", aToken: "0xec4ef66d4fceeba34abb4de69db391bc5476ccc8", debtToken: "0xea85a065f87fe28aa8fbf0d6c7dec472b106252c" }, // USDtb
    { underlying: "0x917459337caac939d41d7493b3999f571d20d667", aToken: "0x312ffc57778cefa11989733e6e08143e7e229c1c", debtToken: "0xd90da2df915b87fe1621a7f2201fbf4ff2cca031" }, // PT_USDe_31JUL2025
    { underlying: "0x14bdc3a3ae09f5518b923b69489cbcafb238e617", aToken: "0x2edff5af94334fbd7c38ae318edf1c40e072b73b", debtToken: "0x22517fe16ded08e52e7ea3423a2ea4995b1f1731" }, // PT_eUSDE_14AUG2025
    { underlying: "0x90d2af7d622ca3141efa4d8f1f24d86e5974cc8f", aToken: "0x5f9190496e0dfc831c3bd307978de4a245e2f5cd", debtToken: "0x48351fcc9536da440ae9471220f6dc921b0eb703" }, // eUSDe
    { underlying: "0xc96de26018a54d51c097160568752c4e3bd6c364", aToken: "0xcca43cef272c30415866914351fdfc3e881bb7c2", debtToken: "0x4a35fd7f93324cc48bc12190d3f37493437b1eff" }, // FBTC
    { underlying: "0x1abaea1f7c830bd89acc67ec4af516284b1bc33c", aToken: "0xaa6e91c82942aeae040303bf96c15a6dbcb82ca0", debtToken: "0x6c82c66622eb360fc973d3f492f9d8e9ea538b08" }, // EURC
    { underlying: "0x9f56094c450763769ba0ea9fe2876070c0fd5f77", aToken: "0x5f4a0873a3a02f7c0cb0e13a1d4362a1ad90e751", debtToken: "0xc9ad8dd111e6384128146467aaf92b81ec422848" }, // PT_sUSDE_25SEP2025
    { underlying: "0xbc6736d346a5ebc0debc997397912cd9b8fae10a", aToken: "0x38a5357ce55c81add62abc84fb32981e2626adef", debtToken: "0x0d8486e1cabf3c9407b3dda0cfc4d9c3101fb683" }, // PT_USDe_25SEP2025
    { underlying: "0xd11c452fc99cf405034ee446803b6f6c1f6d5ed8", aToken: "0x481a2acf3a72ffdc602a9541896ca1db87f86cf7", debtToken: "0x7ec9afe70f8fd603282ebacbc9058a83623e2899" }, // tETH
    { underlying: "0xbf5495efe5db9ce00f80364c8b423567e58d2110", aToken: "0x4e2a4d9b3df7aae73b418bd39f3af9e148e3f479", debtToken: "0x730318db7b830d324fc3feddb1d212ec64bd3141" }, // ezETH
    { underlying: "0x68749665ff8d2d112fa859aa293f07a622782f38", aToken: "0x8a2b6f94ff3a89a03e8c02ee92b55af90c9454a2", debtToken: "0xa665bb258d2a732c170dfd505924214c0b1ac74f" }, // XAUt
    { underlying: "0xe6a934089bbee34f832060ce98848359883749b3", aToken: "0x285866acb0d60105b4ed350a463361c2d9afa0e2", debtToken: "0x690df181701c11c53ea33bbf303c25834b66bd14" }, // PT_sUSDE_27NOV2025
    { underlying: "0x62c6e813b9589c3631ba0cdb013acdb8544038b7", aToken: "0x38c503a438185cde29b5cf4dc1442fd6f074f1cc", debtToken: "0x2ce7e7b238985a8ad3863de03f200b245b0c1216" }, // PT_USDe_27NOV2025
    { underlying: "0x1f84a51296691320478c98b8d77f2bbd17d34350", aToken: "0xe728577e9a1fe7032bc309b4541f58f45443866e", debtToken: "0x9d244a99801dc05cbc04183769c17056b8a1ad53" }, // PT_USDe_5FEB2026
    { underlying: "0xe8483517077afa11a9b07f849cee2552f040d7b2", aToken: "0xbe54767735fb7acca2aa7e2d209a6f705073536d", debtToken: "0xa803414f84fcef00e745be7cc2a315908927f15d" }, // PT_sUSDE_5FEB2026
    { underlying: "0xaca92e438df0b2401ff60da7e4337b687a2435da", aToken: "0xaa0200d169ff3ba9385c12e073c5d1d30434ae7b", debtToken: "0xe35e6a0d3abc28289f5d4c2d262a133df936b98d" }, // mUSD
    { underlying: "0x356b8d89c1e1239cbbb9de4815c39a1474d5ba7d", aToken: "0x24ab03a9a5bc2c49e5523e8d915a3536ac38b91d", debtToken: "0xaef73b04654931b94920a3d7ae62032b79fb6d0c" }, // syrupUSDT
    { underlying: "0xe343167631d89b6ffc58b88d6b7fb0228795491d", aToken: "0x7c0477d085ecb607cf8429f3ec91ae5e1e460f4f", debtToken: "0x4f97b950a30321c181e974971e156e19fad184a3" }, // USDG
    { underlying: "0xaebf0bb9f57e89260d57f31af34eb58657d96ce0", aToken: "0xe036478da9a7ed89b56fe39a06e1fc1a4b38d4ea", debtToken: "0x04142fc546d59838852873bba5c8827601a13fc8" }, // PT_USDe_7MAY2026
    { underlying: "0x3de0ff76e8b528c092d47b9dac775931cef80f49", aToken: "0x81b76ff3fed28ba0b4a5d4c76bd5c13bd0641d86", debtToken: "0x762edb8d79b97487f82093f85059e42eeef61e9e" }, // PT_sUSDE_7MAY2026
    { underlying: "0x9bf45ab47747f4b4dd09b3c2c73953484b4eb375", aToken: "0x1241ec22c9bdf16ba1eb636f2a8de7e28a4343cf", debtToken: "0xacd3d3facea0424984f662827b988f4581a3ce31" }, // PT_srUSDe_2APR2026
    { underlying: "0xb0f70c0bd6fd87dbeb7c10dc692a2a6106817072", aToken: "0x12b70410d60f926558245f769059ea3fc7a7353e", debtToken: "0x6c67e666bb954d4be23e9f1ce20e7e8699d29339" }, // BTCb
    { underlying: "0x619d75e3b790ebc21c289f2805bb7177a7d732e2", aToken: "0xa78eba24d89e70a03ddb7ac195a15e53315aa5b4", debtToken: "0x9ba896531f878ed5f0a4f73e82d63ba7b424f910" }, // PT_srUSDe_25JUN2026
    { underlying: "0x9db38d74a0d29380899ad354121dfb521adb0548", aToken: "0xa9ecb0503075124cc0b786096849a331fbe9ee6d", debtToken: "0x1a83eca2d3b0cea2595fb11ec60cb2d428217c2e" }, // PT_USDG_28MAY2026
    { underlying: "0x59bc9fae5d62b19d4f8d07d758047acb9ee19d34", aToken: "0x01e69a58ca3ddc695820ce6f66fbdf3fa55d0545", debtToken: "0x4af166c6f2cf882f7b196e3625c3e8f2fe2a8083" }, // PT_srUSDe_22OCT2026
  ],
};
