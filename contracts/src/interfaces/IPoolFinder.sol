// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Finds the pools of many tokens in one call.
/// @dev Meant to be placed into an eth_call by state override; it needs no deployment and has no state. The factories
/// that are asked are known ones: nothing guards against one that burns gas.
interface IPoolFinder {
    /// @notice One way to ask a factory for a token's pool.
    /// @param factory Factory to ask.
    /// @param selector Its function, which takes the token, the quote token and the variant and returns an address.
    /// A function without a variant ignores the third word.
    /// @param quote Other token of the pool.
    /// @param variant Fee, spacing of ticks or kind of the pool.
    struct Lookup {
        address factory;
        bytes4 selector;
        address quote;
        uint256 variant;
    }

    /// @notice Asks every lookup for every token.
    /// @param tokens Tokens whose pools are looked for.
    /// @param lookups Ways to ask.
    /// @return pools Pools that exist, in the order of tokens and then of lookups. The address is in the lower 160 bits;
    /// above it is the position: that of the token times the number of lookups, plus that of the lookup.
    function find(
        address[] calldata tokens,
        Lookup[] calldata lookups
    ) external view returns (uint256[] memory pools);
}
