// Known code of wallets that an account can run by EIP-7702.
// Without further keys and implementations, by its published source, it acts only on the signature of the account's own
// key, whatever the account's storage has.
import { COINBASE_IMPLEMENTATIONS } from "../../account/known-accounts.ts";
import { everywhere, type Spender } from "./spender.ts";

export const DELEGATES: readonly Spender[] = [
  {
    name: "MetaMask Stateless DeleGator",
    protocol: "MetaMask",
    kind: "delegate",
    source: "MetaMask/delegation-framework: broadcast/DeployEIP7702StatelessDeleGator.s.sol",
    deployments: [...everywhere("0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B")],
  },
  {
    name: "Ambire account",
    protocol: "Ambire",
    kind: "delegate",
    // privileges[key] of anyone (AmbireAccount7702).
    furtherKeys: "unlisted",
    source:
      "AmbireTech/ambire-common: src/consts/deploy.ts; RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0x5A7FC11397E9a8AD41BF10bf13F22B0a63f96f6d")],
  },
  {
    name: "Uniswap Calibur",
    protocol: "Uniswap",
    kind: "delegate",
    furtherKeys: "counted",
    source: "Uniswap/calibur: README.md",
    deployments: [
      [1, "0x000000009B1D0aF20D8C6d0A44e162d11F9b8f00"],
      [10, "0x000000009B1D0aF20D8C6d0A44e162d11F9b8f00"],
      [8453, "0x000000009B1D0aF20D8C6d0A44e162d11F9b8f00"],
      [42161, "0x000000009B1D0aF20D8C6d0A44e162d11F9b8f00"],
    ],
  },
  {
    name: "Uniswap Calibur 1.1",
    protocol: "Uniswap",
    kind: "delegate",
    furtherKeys: "counted",
    source: "Uniswap/sdks: sdks/smart-wallet-sdk/src/constants.ts",
    deployments: [
      [1, "0x000000005c84F8Fd50b21CAC312528A64437030e"],
      [10, "0x000000005c84F8Fd50b21CAC312528A64437030e"],
      [8453, "0x000000005c84F8Fd50b21CAC312528A64437030e"],
      [42161, "0x000000005c84F8Fd50b21CAC312528A64437030e"],
    ],
  },
  {
    name: "Coinbase EIP-7702 proxy",
    protocol: "Coinbase",
    kind: "delegate",
    implementations: COINBASE_IMPLEMENTATIONS,
    source:
      "base/eip-7702-proxy: README.md; coinbase/smart-wallet: script/DeployFactory.s.sol; coinbase/smart-wallet: broadcast/DeployFactory.s.sol; RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0x7702cb554e6bFb442cb743A7dF23154544a7176C")],
  },
  {
    name: "Simple7702Account",
    protocol: "Ethereum Foundation",
    kind: "delegate",
    source:
      "LedgerHQ/app-ethereum: src/features/sign_authorization_eip7702/whitelist_7702.c; wevm/viem: src/account-abstraction/accounts/implementations/toSimple7702SmartAccount.ts; RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [
      ...everywhere("0x4Cd241E8d1510e30b2076397afc7508Ae59C66c9"),
      ...everywhere("0xe6Cae83BdE06E4c305530e199D7217f42808555B"),
    ],
  },
  {
    name: "Alchemy Modular Account v2",
    protocol: "Alchemy",
    kind: "delegate",
    furtherKeys: "unlisted",
    source:
      "alchemyplatform/aa-sdk: packages/smart-accounts/src/ma-v2/utils/account.ts; RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0x69007702764179f14F51cdce752f4f775d74E139")],
  },
  {
    name: "Trust Wallet account",
    protocol: "Trust Wallet",
    kind: "delegate",
    // Its source is not published.
    furtherKeys: "unlisted",
    source: "RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0xD2e28229F6f2c235e57De2EbC727025A1D0530FB")],
  },
  {
    name: "OKX Wallet account",
    protocol: "OKX",
    kind: "delegate",
    // Validators, in a storage contract of each account.
    furtherKeys: "unlisted",
    source: "okx/wallet-core: README.md; RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0x80296FF8D1ED46f8e3C7992664D13B833504c2Bb")],
  },
  {
    name: "ZeroDev Kernel 3.3",
    protocol: "ZeroDev",
    kind: "delegate",
    // Modules of ERC-7579.
    furtherKeys: "unlisted",
    source: "RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0xd6CEDDe84be40893d153Be9d467CD6aD37875b28")],
  },
  {
    name: "Biconomy Nexus",
    protocol: "Biconomy",
    kind: "delegate",
    // Modules of ERC-7579.
    furtherKeys: "unlisted",
    source: "RevokeCash/whois: scripts/spenders/update-universal-spenders.ts",
    deployments: [...everywhere("0x000000004F43C49e93C970E84001853a70923B03")],
  },
];
