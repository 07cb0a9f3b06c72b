/** Which files `--licences` lets through: those under one of these SPDX licences, in any case of letters; null lets all through. */
export function licenceFilter(licences: readonly string[] | null): (licence: string | null) => boolean {
  if (licences === null) return () => true;
  const allowed = new Set(licences.map(id => id.toLowerCase()));
  return licence => licence !== null && allowed.has(licence.toLowerCase());
}
