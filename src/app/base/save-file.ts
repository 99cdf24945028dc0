/** A file of ours into the user's downloads. Of the name, what turns text around or leads out of the folder is left out. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[\p{C}/\\]+/gu, "_");
  link.click();
  // The browser reads it after this returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
