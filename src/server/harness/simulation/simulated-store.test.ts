import { setImmediate as nextTurn } from 'node:timers/promises';
import { storeContract } from '../../../store/testing/contract.ts';
import { drivenClock } from '../../../store/testing/driven-clock.ts';
import { choicesOf } from './seeded-random.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { SimulatedStore } from './simulated-store.ts';

storeContract('a simulated store without faults', async () => {
  const clock = drivenClock();
  const random = choicesOf(1, 'store');
  const { store } = new SimulatedStore({ clock, random, historyMs: 0 }).link(new SimulatedProcess('server', clock));
  // Time passes while the cases wait: messages and the disk take some.
  let open = true;
  const pass = async () => {
    while (open) {
      clock.advance(1);
      await nextTurn();
    }
  };
  void pass();
  return {
    store,
    advance: async (ms) => {
      clock.advance(ms);
      await nextTurn();
    },
    cleanup: async () => {
      await store.close();
      open = false;
    },
  };
});
