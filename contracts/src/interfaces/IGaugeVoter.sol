// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title What the scanner asks the voters of Velodrome and Aerodrome.
interface IGaugeVoter {
    /// @notice Number of pools that have a gauge. None ever leaves the list.
    /// @return count Number of pools.
    function length() external view returns (uint256 count);

    /// @notice A pool of the list.
    /// @param index Position in the list.
    /// @return pool The pool there.
    function pools(uint256 index) external view returns (address pool);

    /// @notice The gauge of a pool.
    /// @param pool Pool to look up.
    /// @return gauge Its gauge; zero when it has none.
    function gauges(address pool) external view returns (address gauge);
}
