// Modules, fallback handlers and owners of accounts that act only on what the owners have signed, or within their limits.
import { everywhere, type Spender } from "./spender.ts";

export const ACCOUNT_EXTENSIONS: readonly Spender[] = [
  {
    name: "Safe 4337 Module",
    protocol: "Safe",
    kind: "signed-module",
    source: "safe-global/safe-modules-deployments: src/assets/safe-4337-module",
    deployments: [
      ...everywhere("0xa581c4A4DB7175302464fF3C06380BC3270b4037"),
      ...everywhere("0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226"),
    ],
  },
  {
    name: "Safe Allowance Module",
    protocol: "Safe",
    kind: "allowance-module",
    source: "safe-global/safe-modules-deployments: src/assets/allowance-module",
    deployments: [
      [1, "0xCFbFaC74C26F8647cBDb8c5caf80BB5b32E43134"],
      [137, "0x1Fb403834C911eB98d56E74F5182b0d64C3b3b4D"],
      [137, "0xAA46724893dedD72658219405185Fb0Fc91e091C"],
      [8453, "0xCFbFaC74C26F8647cBDb8c5caf80BB5b32E43134"],
      [8453, "0xAA46724893dedD72658219405185Fb0Fc91e091C"],
    ],
  },
  {
    name: "Safe fallback handler",
    protocol: "Safe",
    kind: "fallback-handler",
    source:
      "safe-global/safe-deployments: src/assets/v1.3.0/compatibility_fallback_handler.json; safe-global/safe-deployments: src/assets/v1.4.1/compatibility_fallback_handler.json; safe-global/safe-deployments: src/assets/v1.5.0/compatibility_fallback_handler.json",
    deployments: [
      ...everywhere("0xf48f2B2d2a534e402487b3ee7C18c33Aec0Fe5e4"),
      ...everywhere("0x017062a1dE2FE6b99BE3d9d37841FeD19F573804"),
      ...everywhere("0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99"),
      ...everywhere("0x3EfCBb83A4A7AfcB4F68D501E2c2203a38be77f4"),
    ],
  },
  {
    name: "Safe callback handler",
    protocol: "Safe",
    // It validates no signature.
    kind: "fallback-handler",
    source: "safe-global/safe-deployments: src/assets/v1.1.1/default_callback_handler.json",
    deployments: [[1, "0xd5D82B6aDDc9027B22dCA772Aa68D5d74cdBdF44"]],
  },
  {
    name: "Coinbase Spend Permission Manager",
    protocol: "Coinbase",
    kind: "permission-manager",
    source: "coinbase/spend-permissions: README.md",
    deployments: [...everywhere("0xf85210B21cC50302F477BA56686d2019dC9b67Ad")],
  },
];
