// Modules and fallback handlers of a Safe that act only on what its owners have signed, or within limits that they set.
import { everywhere, type Spender } from "./spender.ts";

export const SAFE_EXTENSIONS: readonly Spender[] = [
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
      "safe-global/safe-deployments: src/assets/v1.3.0/compatibility_fallback_handler.json; safe-global/safe-deployments: src/assets/v1.4.1/compatibility_fallback_handler.json",
    deployments: [
      ...everywhere("0xf48f2B2d2a534e402487b3ee7C18c33Aec0Fe5e4"),
      ...everywhere("0x017062a1dE2FE6b99BE3d9d37841FeD19F573804"),
      ...everywhere("0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99"),
    ],
  },
];
