package io.fibry.durable;

class UpgradeInFolderTest extends UpgradeContract {
  UpgradeInFolderTest() {
    super(FolderStores::new);
  }
}
