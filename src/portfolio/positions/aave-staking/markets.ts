// Aave's stake tokens by chain id; the test compares them with the address book of Aave's governance.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const aaveStakeToken = shape.object({
  name: shape.text,
  token: shape.address,
  /**
   * The Safety Module's stake tokens have functions of their own. Umbrella's are ERC-4626 vaults: of a token, or of
   * another vault, Aave's wrapped deposits.
   */
  kind: shape.oneOf("safety-module", "vault", "vault-of-vault"),
});

export type AaveStakeToken = ShapeType<typeof aaveStakeToken>;

export const AAVE_STAKE_TOKENS = readChainData(
  "staking",
  "aave-staking",
  shape.list(aaveStakeToken, ({ token }) => token),
);
