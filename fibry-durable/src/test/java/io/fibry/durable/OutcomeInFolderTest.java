package io.fibry.durable;

class OutcomeInFolderTest extends OutcomeContract {
  OutcomeInFolderTest() {
    super(FolderStores::new);
  }
}
