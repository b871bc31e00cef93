/** Shuffle sharding: each flow has a few of the queues of its level, so that two flows rarely have all in common. */
import { createHash } from 'node:crypto';

/**
 * The hand of a flow: `handSize` different queues of `queues`, the same for the same schema and distinguisher.
 * `queues` to the power of `handSize` must be below 2^60.
 */
export function dealHand(schema: string, distinguisher: string, queues: number, handSize: number): readonly number[] {
  const digest = createHash('sha256').update(`${schema.length}:${schema}${distinguisher}`).digest();
  let rest = digest.readBigUInt64LE();
  const hand: number[] = [];
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(queues - dealt);
    let card = Number(rest % left);
    rest /= left;
    // The card is a place among those that are left: skip the cards of lower places that are already dealt.
    for (const taken of [...hand].sort((a, b) => a - b)) if (taken <= card) card++;
    hand.push(card);
  }
  return hand;
}
