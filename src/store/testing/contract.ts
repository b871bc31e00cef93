import { afterEach, beforeEach, describe } from 'vitest';
import { commitCases } from './commit-cases.ts';
import { keyCases } from './key-cases.ts';
import { leaseCases } from './lease-cases.ts';
import { lifetimeCases } from './lifetime-cases.ts';
import { readCases } from './read-cases.ts';
import { type OpenedStore, toolsFor } from './tools.ts';
import { watchCases } from './watch-cases.ts';

/** The contract suite, run against every driver. `open` opens a new store for each case. */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`store contract: ${name}`, () => {
    let opened: OpenedStore;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.cleanup());

    const tools = toolsFor(() => opened);
    readCases(tools);
    keyCases(tools);
    commitCases(tools);
    watchCases(tools);
    leaseCases(tools);
    lifetimeCases(tools);
  });
}
