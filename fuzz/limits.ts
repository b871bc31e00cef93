/** How long an input or an attack may block the event loop, or keep another client waiting (ms). */
export const longestHold = 250;
