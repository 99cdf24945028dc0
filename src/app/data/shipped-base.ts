/** Where the sample lies: beside the page, whatever the folder it is served from. Ends with a slash. */
export const sampleBase = (): string => new URL("sample/", document.baseURI).href;
