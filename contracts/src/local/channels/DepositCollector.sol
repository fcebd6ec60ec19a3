// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IDepositCollector} from "../../interfaces/IDepositCollector.sol";

/// @title What collectors share: they serve the channels only, at the address that those have on every chain.
abstract contract DepositCollector is IDepositCollector {
    /// @inheritdoc IDepositCollector
    address public constant x402BatchSettlement = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    modifier onlyChannels() {
        if (msg.sender != x402BatchSettlement) revert OnlyX402BatchSettlement();
        _;
    }
}
