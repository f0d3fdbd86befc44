package io.fibry.durable;

class StoredContextInFolderTest extends StoredContextContract {
  StoredContextInFolderTest() {
    super(FolderStores::new);
  }
}
