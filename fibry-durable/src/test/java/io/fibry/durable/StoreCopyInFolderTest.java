package io.fibry.durable;

class StoreCopyInFolderTest extends StoreCopyContract {
  StoreCopyInFolderTest() {
    super(FolderStores::new);
  }
}
