/** How long an input or an attack may block the event loop, or keep another client waiting (ms). */
export const longestHold = 250;
/** How long an attack may keep a small write of another client waiting, which takes several turns (ms). */
export const longestWrite = 500;
