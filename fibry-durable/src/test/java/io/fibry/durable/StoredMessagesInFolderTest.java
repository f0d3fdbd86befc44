package io.fibry.durable;

class StoredMessagesInFolderTest extends StoredMessagesContract {
  StoredMessagesInFolderTest() {
    super(FolderStores::new);
  }
}
