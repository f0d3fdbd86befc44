/** A store in a folder: a log of checked frames, each of which is one commit. */
package io.fibry.store.folder;
