/**
 * The files of a store on disk. {@link io.fibry.store.folder.disk.FileDisk} reads and writes the
 * files of a folder, which {@link io.fibry.store.folder.disk.FolderLock} gives to one store at a
 * time. Not exported.
 */
package io.fibry.store.folder.disk;
