# The publisher's side: a repository whose weights lie in Git LFS.
export GIT_CONFIG_GLOBAL="$PWD/gitconfig" GIT_CONFIG_NOSYSTEM=1
git config --global user.name someone
git config --global user.email someone@example.com
git config --global init.defaultBranch main
git init --quiet --bare hub
git init --quiet work
(
    cd work
    git lfs install --local
    git lfs track "*.pkl"
    python -c 'import pickle; pickle.dump({"weight": [0.5] * 1000}, open("model.pkl", "wb"))'
    git add .
    git commit --quiet -m "the model"
    git push "file://$OLDPWD/hub" main
) > setup.log 2>&1
git clone --quiet "file://$PWD/hub" clone
