package io.fibry.durable;

class UpgradeInAFolderTest extends UpgradeContract {
  UpgradeInAFolderTest() {
    super(Folders::new);
  }
}
