package io.fibry.durable;

class ParkedMessagesInFolderTest extends ParkedMessagesContract {
  ParkedMessagesInFolderTest() {
    super(FolderStores::new);
  }
}
