package io.fibry.durable;

class ClockSkewInFolderTest extends ClockSkewContract {
  ClockSkewInFolderTest() {
    super(FolderStores::new);
  }
}
