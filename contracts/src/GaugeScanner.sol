// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IGaugeScanner} from "./interfaces/IGaugeScanner.sol";
import {IGaugeVoter} from "./interfaces/IGaugeVoter.sol";

/// @title Finds the gauges in which a wallet has staked something, in one call for hundreds of them.
contract GaugeScanner is IGaugeScanner {
    // Ten times what a gauge behind a proxy needs for either question.
    uint256 private constant GAS_PER_QUESTION = 100_000;

    // Both questions to one more gauge, two to the voter, and the answer.
    uint256 private constant GAS_RESERVE = 1_000_000;

    // Of gauges that hold NFTs: stakedLength(address), the number of those of a wallet.
    bytes4 private constant STAKED_LENGTH = bytes4(keccak256("stakedLength(address)"));

    /// @inheritdoc IGaugeScanner
    function scan(
        address voter,
        address wallet,
        uint256 from,
        uint256 count
    ) external view returns (Stake[] memory stakes, uint256 next, uint256 length) {
        length = IGaugeVoter(voter).length();
        next = from < length ? from : length;
        uint256 size = length - next < count ? length - next : count;
        uint256 end = next + size;
        stakes = new Stake[](size);
        uint256 found = 0;
        for (; next < end && gasleft() > GAS_RESERVE; ++next) {
            address pool = IGaugeVoter(voter).pools(next);
            address gauge = IGaugeVoter(voter).gauges(pool);
            (bool holdsTokens, uint256 amount) = _ask(gauge, IERC20.balanceOf.selector, wallet);
            if (!holdsTokens) (, amount) = _ask(gauge, STAKED_LENGTH, wallet);
            if (amount == 0) continue;
            // The array already holds empty structs: filling them takes no memory, new ones would.
            Stake memory stake = stakes[found++];
            (stake.pool, stake.gauge, stake.holdsNfts) = (pool, gauge, !holdsTokens);
        }
        assembly ("memory-safe") {
            mstore(stakes, found)
        }
    }

    // Zero unless the gauge answers with a number. Only one word is ever copied back.
    function _ask(
        address gauge,
        bytes4 selector,
        address wallet
    ) private view returns (bool answered, uint256 amount) {
        bytes memory query = abi.encodeWithSelector(selector, wallet);
        assembly ("memory-safe") {
            let succeeded := staticcall(GAS_PER_QUESTION, gauge, add(query, 0x20), mload(query), 0x00, 0x20)
            answered := and(succeeded, gt(returndatasize(), 0x1f))
            if answered {
                amount := mload(0x00)
            }
            // The query is not needed again: give its memory back, or it would grow with every gauge.
            mstore(0x40, query)
        }
    }
}
