// Data is not code: a file of src with many addresses belongs into chain-data/, with sources and dates.
import { isCode, type RepositoryRule } from "../repository.ts";

const ADDRESSES_MAX = 10;
/** Addresses, and hashes such as the ids of markets. */
const ADDRESS = /\b0x(?:[0-9a-fA-F]{24})?[0-9a-fA-F]{40}\b/g;

export const dataInCode: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => file.startsWith("src/") && isCode(file) && !/\.test\.ts$|\/generated\//.test(file))
    .flatMap((file) => {
      const addresses = new Set(repository.text(file).match(ADDRESS));
      const message = `has ${addresses.size} addresses (at most ${ADDRESSES_MAX}); move them to chain-data/`;
      return addresses.size > ADDRESSES_MAX ? [{ file, line: 1, message }] : [];
    });
