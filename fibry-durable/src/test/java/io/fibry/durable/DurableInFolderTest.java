package io.fibry.durable;

class DurableInFolderTest extends DurableContract {
  DurableInFolderTest() {
    super(FolderStores::new);
  }
}
