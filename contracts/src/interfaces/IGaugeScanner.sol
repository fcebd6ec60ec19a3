// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Finds the gauges in which a wallet has staked something, in one call for hundreds of them.
/// @dev Meant to be placed into an eth_call by state override; it needs no deployment and has no state. The voter is a
/// known one: only it is asked which gauges there are.
interface IGaugeScanner {
    /// @notice A gauge in which the wallet has something.
    /// @param pool Pool that the gauge belongs to.
    /// @param gauge The gauge.
    /// @param holdsNfts Whether it holds NFTs instead of the pool's tokens.
    struct Stake {
        address pool;
        address gauge;
        bool holdsNfts;
    }

    /// @notice Asks the gauges of a part of the voter's pools what the wallet has in them.
    /// @dev A gauge holds tokens of its pool, or NFTs; one that answers as neither holds nothing for the wallet. Pools
    /// from `next` on were not asked: call again from there. Reverts when there is no voter.
    /// @param voter Contract that lists pools and knows the gauge of each.
    /// @param wallet Wallet to look for.
    /// @param from Position of the first pool in the voter's list.
    /// @param count Most pools to ask.
    /// @return stakes Gauges in which the wallet has something, in the order of the list.
    /// @return next Position of the first pool that was not asked.
    /// @return length Number of pools in the voter's list.
    function scan(
        address voter,
        address wallet,
        uint256 from,
        uint256 count
    ) external view returns (Stake[] memory stakes, uint256 next, uint256 length);
}
