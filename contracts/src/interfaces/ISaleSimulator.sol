// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Sells tokens of a wallet into pools, one sale after another, and undoes each.
/// @dev Meant to be placed at the address of the wallet by state override, for one eth_call: tokens then see the wallet
/// as the sender. It uses no storage, because that is the wallet's. Pools and quote tokens are known ones; a token may
/// be anything.
interface ISaleSimulator {
    /// @notice How a pool trades.
    /// @dev Concentrated liquidity (Uniswap v3 and its forks), constant product with a fee of 0.3 % (Uniswap v2 and its
    /// forks), and pools that compute the amount themselves (Solidly and its forks).
    enum PoolKind {
        Concentrated,
        ConstantProduct,
        SelfQuoting
    }

    /// @notice One sale.
    /// @param token Token to sell.
    /// @param quote Token that the pool pays with.
    /// @param pool Pool of the two.
    /// @param kind How the pool trades.
    /// @param amount Most units to sell.
    /// @param sqrtPriceLimit Where a pool of concentrated liquidity stops; ignored by others.
    /// @param isQuoted Whether the pool is only asked what it would pay, and no token moves. For concentrated liquidity.
    struct Sale {
        address token;
        address quote;
        address pool;
        PoolKind kind;
        uint256 amount;
        uint160 sqrtPriceLimit;
        bool isQuoted;
    }

    /// @notice Makes the sales, each on the state as it is, as far as the gas reaches.
    /// @dev There are fewer results than sales when the gas does not suffice for the next one: call again with the rest.
    /// @param sales Sales to make.
    /// @param gasMax Most gas that a sale may use.
    /// @return proceeds What the pool paid and the wallet received, the smaller of both; zero for a sale that failed.
    function simulate(
        Sale[] calldata sales,
        uint256 gasMax
    ) external returns (uint256[] memory proceeds);

    /// @notice Makes one sale and always reverts: with one word, the proceeds, or with anything else where it fails.
    /// @param sale Sale to make.
    function sell(Sale calldata sale) external;
}
