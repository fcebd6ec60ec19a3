// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title What a call spends of the token it is sent to.
library TokenSpend {
    /// @notice Amount that a transfer, approve or transferFrom call spends; 0 for every other call.
    /// @param data Calldata of the call.
    /// @return Amount spent, 0 also when the calldata is too short to hold one.
    function amountOf(bytes calldata data) internal pure returns (uint256) {
        uint256 length = _fullLength(data);
        if (length == 0 || data.length < length) return 0;
        return uint256(bytes32(data[length - 32:length]));
    }

    /// @notice Whether a spending call is cut short of its amount.
    /// @dev Old tokens read missing bytes as zero, so such a call may still move tokens that {amountOf} can not see.
    /// @param data Calldata of the call.
    /// @return True when the selector spends but the amount is not wholly there.
    function isTruncated(bytes calldata data) internal pure returns (bool) {
        return data.length < _fullLength(data);
    }

    /// @notice Whether a call is one of the three whose spend {amountOf} reads.
    /// @param data Calldata of the call.
    /// @return True for transfer, approve and transferFrom, also when cut short.
    function isKnown(bytes calldata data) internal pure returns (bool) {
        return _fullLength(data) > 0;
    }

    // The amount is the last argument of all three; 0 when the call is not one of them.
    function _fullLength(bytes calldata data) private pure returns (uint256) {
        if (data.length < 4) return 0;
        bytes4 selector = bytes4(data);
        if (selector == IERC20.transfer.selector || selector == IERC20.approve.selector) return 68;
        if (selector == IERC20.transferFrom.selector) return 100;
        return 0;
    }
}
