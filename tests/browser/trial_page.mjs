// What the tests of pages that simulate have in common.
import { open } from './chromium.mjs';

export async function openTrial(path, options = {}) {
  const opened = await open(path, { makes: /^(blob:|data:)/, ...options });
  opened.page.setDefaultTimeout(60_000);
  await opened.page.locator('#trial-said', { hasText: 'Ready.' }).waitFor();
  return opened;
}

export const settled = (page) => page.locator('#trial-said', { hasText: 'All replications' }).waitFor();

// What `slicewise diff` says of the figures, without the files and settings that it names.
export const changesOf = async (page) => (await page.locator('#trial-changes').textContent())
  .split('\nSETTING')[0].split('\n').slice(1).join('\n');
