// The normalization of names by ENSIP-15, in a file of its own so that its tables are only loaded for names that need them.
export { normalize } from "viem/ens";
