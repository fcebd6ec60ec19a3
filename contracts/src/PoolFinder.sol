// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IPoolFinder} from "./interfaces/IPoolFinder.sol";

/// @title Finds the pools of many tokens in one call.
contract PoolFinder is IPoolFinder {
    /// @inheritdoc IPoolFinder
    function find(
        address[] calldata tokens,
        Lookup[] calldata lookups
    ) external view returns (uint256[] memory pools) {
        uint256 count = lookups.length;
        pools = new uint256[](tokens.length * count);
        uint256 found = 0;
        for (uint256 i = 0; i < tokens.length; ++i) {
            for (uint256 j = 0; j < count; ++j) {
                uint256 pool = _poolOf(tokens[i], lookups[j]);
                if (pool != 0) pools[found++] = ((i * count + j) << 160) | pool;
            }
        }
        assembly ("memory-safe") {
            mstore(pools, found)
        }
    }

    // Zero also for a factory that fails, is not there, or answers with anything but an address.
    function _poolOf(address token, Lookup calldata lookup) private view returns (uint256 pool) {
        bytes memory query = abi.encodeWithSelector(lookup.selector, token, lookup.quote, lookup.variant);
        address factory = lookup.factory;
        assembly ("memory-safe") {
            let succeeded := staticcall(gas(), factory, add(query, 0x20), mload(query), 0x00, 0x20)
            if and(succeeded, eq(returndatasize(), 0x20)) {
                pool := mload(0x00)
            }
            if shr(160, pool) {
                pool := 0
            }
            // The query is not needed again: give its memory back, or it would grow with every lookup.
            mstore(0x40, query)
        }
    }
}
